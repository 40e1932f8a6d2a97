#include "clients/dimple/initial_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clients/dimple/json_desc.h"
#include "clients/files/npy.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// The largest sizes of initial values and of a buffer. Larger sizes, which no device binds or has, are refused before
// anything is computed with them.
constexpr uint64_t kMaxBytes = UINT32_MAX;
constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 40;

double readNumber(const JsonValue& field) {
  if (field.value().is_number()) return field.value().get<double>();
  if (field.value().is_string()) {
    std::string text = field.string();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (text == "nan" || text == "inf" || text == "-inf") return *parseNumber<double>(text);
  }
  field.fail("is neither a number nor \"nan\", \"inf\" or \"-inf\".");
}

// An element of a data type in its low bytes.
DML_SCALAR_UNION readElement(const JsonValue& field, DataType type) {
  DML_SCALAR_UNION element{};
  const Json& value = field.value();
  if (isFloat(type)) {
    const double number = readNumber(field);
    if (type == DML_TENSOR_DATA_TYPE_FLOAT16) element.UInt16 = halfBits(number);
    if (type == DML_TENSOR_DATA_TYPE_FLOAT32) element.Float32 = static_cast<float>(number);
    if (type == DML_TENSOR_DATA_TYPE_FLOAT64) element.Float64 = number;
    return element;
  }
  // 2.0 and 1e3 are integers too.
  const bool isWhole = value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>() &&
                       std::fabs(value.get<double>()) < 9e15;
  const std::string text = isWhole ? std::to_string(static_cast<int64_t>(value.get<double>())) : value.dump();
  const auto parsed = parseElement(type, text);
  if (!parsed) field.fail(cat("is ", value.dump(), ", which is not a value of ", dataTypeName(type), "."));
  return *parsed;
}

void append(std::vector<std::byte>& bytes, const DML_SCALAR_UNION& element, size_t count) {
  const auto* begin = reinterpret_cast<const std::byte*>(element.Bytes);
  bytes.insert(bytes.end(), begin, begin + count);
}

uint64_t readCount(const JsonValue& values, size_t elementBytes) {
  const JsonValue count = values.member("valueCount");
  if (count.integer(kMaxBytes / elementBytes) == 0) count.fail("is 0, expected at least 1.");
  return count.integer();
}

std::vector<std::byte> repeat(const JsonValue& values, DataType type) {
  values.allowOnly({"valueCount", "value"});
  const size_t width = byteWidth(type);
  const uint64_t count = readCount(values, width);
  const DML_SCALAR_UNION element = readElement(values.member("value"), type);
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(count) * width);
  for (uint64_t i = 0; i < count; ++i) append(bytes, element, width);
  return bytes;
}

// valueStart + i * valueDelta; integers wrap.
std::vector<std::byte> sequence(const JsonValue& values, DataType type) {
  values.allowOnly({"valueCount", "valueStart", "valueDelta"});
  const size_t width = byteWidth(type);
  const uint64_t count = readCount(values, width);
  const JsonValue startField = values.member("valueStart");
  const JsonValue deltaField = values.member("valueDelta");
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<size_t>(count) * width);
  if (isFloat(type)) {
    const double start = readNumber(startField);
    const double delta = readNumber(deltaField);
    for (uint64_t i = 0; i < count; ++i) {
      const double value = start + static_cast<double>(i) * delta;
      DML_SCALAR_UNION element{};
      if (type == DML_TENSOR_DATA_TYPE_FLOAT16) element.UInt16 = halfBits(value);
      if (type == DML_TENSOR_DATA_TYPE_FLOAT32) element.Float32 = static_cast<float>(value);
      if (type == DML_TENSOR_DATA_TYPE_FLOAT64) element.Float64 = value;
      append(bytes, element, width);
    }
  } else {
    // Unused high bytes do not matter: only the low ones are kept.
    const uint64_t start = readElement(startField, type).UInt64;
    const uint64_t delta = deltaField.value().is_number_unsigned()
                               ? deltaField.value().get<uint64_t>()
                               : readElement(deltaField, DML_TENSOR_DATA_TYPE_INT64).UInt64;
    for (uint64_t i = 0; i < count; ++i) {
      DML_SCALAR_UNION element{};
      element.UInt64 = start + i * delta;
      append(bytes, element, width);
    }
  }
  return bytes;
}

std::vector<std::byte> list(const JsonValue& values, DataType type) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    const JsonValue element = values.element(i);
    if (type != DML_TENSOR_DATA_TYPE_UNKNOWN) {
      append(bytes, readElement(element, type), byteWidth(type));
      continue;
    }
    element.object().allowOnly({"name", "type", "value"});
    const JsonValue typeField = element.member("type");
    const DataType elementType = readDataType(typeField);
    if (bitWidth(elementType) < 8) typeField.fail("is not a data type of at least 8 bits.");
    append(bytes, readElement(element.member("value"), elementType), byteWidth(elementType));
  }
  return bytes;
}

void checkDimensions(const JsonValue& resource, const std::vector<uint64_t>& actual) {
  if (!resource.has("dimensions")) return;
  const JsonValue field = resource.member("dimensions");
  const auto expected = field.integers();
  if (!std::equal(expected.begin(), expected.end(), actual.begin(), actual.end()))
    field.fail(
        cat("is ", field.value().dump(), ", but the file has ", listText(std::span<const uint64_t>(actual)), "."));
}

std::vector<std::byte> imageFile(const JsonValue& resource, const std::filesystem::path& path, DataType& type) {
  if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) type = DML_TENSOR_DATA_TYPE_UINT8;
  if (!isPixelType(type))
    resource.member("initialValuesDataType").fail("is not a data type of pixels, expected UINT8, FLOAT16 or FLOAT32.");
  if (resource.has("resampleMode") && resource.member("resampleMode").string() != "scale")
    resource.member("resampleMode").fail("is not \"scale\".");
  if (!resource.has("resampleSize")) {
    const auto channels = resource.has("channels") ? static_cast<uint32_t>(resource.member("channels").integer(4)) : 0;
    const Image image = readImage(path, channels);
    checkDimensions(resource, {image.height, image.width, image.channels});
    return toElements(image, type, PixelLayout::Interleaved);
  }
  const JsonValue sizeField = resource.member("resampleSize");
  const auto sizes = sizeField.integers();
  if (sizes.size() != 4 || sizes[0] != 1 || sizes[1] == 0 || sizes[1] > 4 || !sizes[2] || !sizes[3] ||
      sizes[2] > 32768 || sizes[3] > 32768)
    sizeField.fail("is not [1, channels, height, width].");
  if (const uint64_t bytes = uint64_t{sizes[1]} * sizes[2] * sizes[3] * byteWidth(type); bytes > kMaxBytes)
    sizeField.fail(cat("takes ", bytes, " bytes, expected at most ", kMaxBytes, "."));
  Image image = readImage(path, sizes[1]);
  if (image.width != sizes[3] || image.height != sizes[2]) image = resizeImage(image, sizes[3], sizes[2]);
  return toElements(image, type, PixelLayout::Planar);
}

std::vector<std::byte> fileContents(const JsonValue& resource, const JsonValue& values, DataType& type,
                                    const ModelOptions& options) {
  values.allowOnly({"sourcePath"});
  const JsonValue pathField = values.member("sourcePath");
  const std::filesystem::path given = expandPath(pathField, options);
  std::filesystem::path path = values.file().path().parent_path() / given;
  if (!std::filesystem::exists(path)) path = given;
  if (!std::filesystem::is_regular_file(path))
    pathField.fail(cat("is \"", given.string(), "\", which is not a file beside ", values.file().path().string(),
                       " or in the current folder."));
  if (isImagePath(path)) return imageFile(resource, path, type);
  if (path.extension() == ".npy") {
    NpyArray array = readNpy(path);
    if (type != DML_TENSOR_DATA_TYPE_UNKNOWN && type != array.type)
      resource.member("initialValuesDataType")
          .fail(cat("is not the type of the file (", dataTypeName(array.type), ")."));
    type = array.type;
    checkDimensions(resource, array.sizes);
    return std::move(array.bytes);
  }
  if (type == DML_TENSOR_DATA_TYPE_UNKNOWN) resource.fail("has no initialValuesDataType, which a raw file needs.");
  return readFile(path);
}

}  // namespace

std::string expandPath(const JsonValue& field, const ModelOptions& options) {
  std::string path = field.string();
  for (auto at = path.find("${"); at != path.npos; at = path.find("${", at)) {
    const auto end = path.find('}', at);
    const std::string name = path.substr(at + 2, end == path.npos ? end : end - at - 2);
    const auto definition = options.definitions.find(name);
    if (end == path.npos || definition == options.definitions.end())
      field.fail(cat("needs ", name, "; give it with --define ", name, "=PATH."));
    path.replace(at, end + 1 - at, definition->second);
    at += definition->second.size();
  }
  return path;
}

Buffer readBuffer(const std::string& name, const JsonValue& resource, const ModelOptions& options) {
  resource.allowOnly({"type", "initialValues", "initialValuesDataType", "initialValuesOffsetInBytes", "sizeInBytes",
                      "resampleSize", "resampleMode", "dimensions", "channels"});
  if (resource.has("type") && resource.member("type").string() != "buffer")
    resource.member("type").fail("is not \"buffer\", the only type of resource.");
  Buffer buffer;
  buffer.name = name;
  if (resource.has("initialValuesDataType")) {
    const JsonValue field = resource.member("initialValuesDataType");
    buffer.type = readDataType(field);
    if (buffer.type != DML_TENSOR_DATA_TYPE_UNKNOWN && bitWidth(buffer.type) < 8)
      field.fail("is not a data type of at least 8 bits.");
  }
  const auto needType = [&] {
    if (buffer.type == DML_TENSOR_DATA_TYPE_UNKNOWN) resource.fail("has no initialValuesDataType.");
  };
  if (resource.has("initialValues")) {
    const JsonValue values = resource.member("initialValues");
    if (values.value().is_string()) values.fail("is a string; deferred buffers are not supported.");
    if (values.value().is_array()) {
      buffer.values = list(values, buffer.type);
    } else if (values.object().has("sourcePath")) {
      buffer.values = fileContents(resource, values, buffer.type, options);
    } else if (values.has("valueStart")) {
      needType();
      buffer.values = sequence(values, buffer.type);
    } else if (values.has("value")) {
      needType();
      buffer.values = repeat(values, buffer.type);
    } else {
      values.fail("has none of value, valueStart and sourcePath.");
    }
    if (buffer.values.empty()) values.fail("is empty.");
  } else if (!resource.has("sizeInBytes")) {
    resource.fail("has neither initialValues nor sizeInBytes.");
  }
  if (resource.has("initialValuesOffsetInBytes"))
    buffer.offset = resource.member("initialValuesOffsetInBytes").integer(kMaxBytes);
  const uint64_t needed = buffer.offset + buffer.values.size();
  buffer.bytes = needed;
  if (resource.has("sizeInBytes")) {
    const JsonValue field = resource.member("sizeInBytes");
    buffer.bytes = field.integer(kMaxBufferBytes);
    if (buffer.bytes < needed || buffer.bytes == 0)
      field.fail(cat("is ", buffer.bytes, ", expected at least ", std::max<uint64_t>(needed, 1), " bytes."));
  }
  // DirectML binds multiples of 4 bytes.
  buffer.bytes = (buffer.bytes + 3) / 4 * 4;
  return buffer;
}

}  // namespace dimple::tool
