// TensorProto: data in its own fields, packed as bytes, or in files beside the model.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include "clients/onnx/failure.h"
#include "clients/onnx/model_proto.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

std::string placeOf(const ::onnx::TensorProto& proto) {
  return proto.name().empty() ? "A tensor" : cat("Tensor \"", proto.name(), "\"");
}

template <class Field>
void copyField(const Field& field, const ::onnx::TensorProto& proto, HostTensor& tensor) {
  const auto count = static_cast<size_t>(tensor.elements());
  if (static_cast<size_t>(field.size()) != count)
    throw ModelError(cat(placeOf(proto), " has ", field.size(), " values, expected ", count, " for sizes ",
                         listText(tensor.sizes), "."));
  for (size_t i = 0; i < count; ++i) {
    const auto value = field[static_cast<int>(i)];
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
      tensor.setReal(i, static_cast<double>(value));
    else if (tensor.type == Type::Float16)  // its bits
      std::memcpy(&tensor.bytes[2 * i], &value, 2);
    else
      tensor.setInteger(i, static_cast<int64_t>(value));
  }
}

void readFields(const ::onnx::TensorProto& proto, HostTensor& tensor) {
  switch (tensor.type) {
    case Type::Float:
      return copyField(proto.float_data(), proto, tensor);
    case Type::Double:
      return copyField(proto.double_data(), proto, tensor);
    case Type::Int64:
      return copyField(proto.int64_data(), proto, tensor);
    case Type::UInt32:
    case Type::UInt64:
      return copyField(proto.uint64_data(), proto, tensor);
    default:
      break;
  }
  if (!isPacked(tensor.type)) return copyField(proto.int32_data(), proto, tensor);
  std::vector<std::byte> packed;
  for (const int32_t pair : proto.int32_data()) packed.push_back(static_cast<std::byte>(pair));
  if (packed.size() * 2 < tensor.bytes.size())
    throw ModelError(cat(placeOf(proto), " has ", packed.size() * 2, " values, expected ", tensor.bytes.size(), "."));
  unpack(packed, tensor);
}

void readBytes(std::span<const std::byte> bytes, const ::onnx::TensorProto& proto, HostTensor& tensor) {
  const size_t expected = isPacked(tensor.type) ? (tensor.bytes.size() + 1) / 2 : tensor.bytes.size();
  if (bytes.size() != expected)
    throw ModelError(cat(placeOf(proto), " has ", bytes.size(), " bytes, expected ", expected, " for sizes ",
                         listText(tensor.sizes), " of ", typeName(tensor.type), "."));
  if (isPacked(tensor.type))
    unpack(bytes, tensor);
  else
    std::ranges::copy(bytes, tensor.bytes.begin());
}

uint64_t parseNumber(const std::string& text, const ::onnx::TensorProto& proto, const char* key) {
  uint64_t value = 0;
  std::istringstream in(text);
  if (text.empty() || text[0] == '-' || !(in >> value) || !in.eof())
    throw ModelError(cat(placeOf(proto), " has external data with ", key, " \"", text, "\", expected a number."));
  return value;
}

std::filesystem::path externalPath(const std::string& location, const std::filesystem::path& folder,
                                   const ::onnx::TensorProto& proto) {
  const std::filesystem::path relative = location;
  bool inside = !location.empty() && relative.is_relative() && !relative.has_root_name();
  for (const auto& part : relative) inside = inside && part != "..";
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(folder, error);
  const auto path = std::filesystem::weakly_canonical(root / relative, error);
  // A symbolic link may lead elsewhere.
  const auto [rootEnd, pathEnd] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (!inside || error || rootEnd != root.end() || folder.empty())
    throw ModelError(
        cat(placeOf(proto), " has its data in \"", location, "\", expected a file in the model's folder."));
  return path;
}

void readExternal(const ::onnx::TensorProto& proto, const std::filesystem::path& folder, HostTensor& tensor) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = std::numeric_limits<uint64_t>::max();
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parseNumber(entry.value(), proto, "offset");
    if (entry.key() == "length") length = parseNumber(entry.value(), proto, "length");
  }
  const auto path = externalPath(location, folder, proto);
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw ModelError(cat(placeOf(proto), " has its data in \"", location, "\", which cannot be read."));
  if (offset > size || (length != std::numeric_limits<uint64_t>::max() && length > size - offset))
    throw ModelError(cat(placeOf(proto), " has its data in \"", location, "\" beyond its end (", size, " bytes)."));
  const size_t needed = isPacked(tensor.type) ? (tensor.bytes.size() + 1) / 2 : tensor.bytes.size();
  std::vector<std::byte> bytes(
      static_cast<size_t>(std::min<uint64_t>(length, std::min<uint64_t>(size - offset, needed))));
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in && !bytes.empty())
    throw ModelError(cat(placeOf(proto), " has its data in \"", location, "\", which cannot be read."));
  readBytes(bytes, proto, tensor);
}

}  // namespace

HostTensor readTensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder) {
  const Sizes sizes(proto.dims().begin(), proto.dims().end());
  const auto type = static_cast<Type>(proto.data_type());
  if (traits(type).hostBytes == 0)
    throw ModelError(cat(placeOf(proto), " is of ", typeName(type), ", which is not supported."));
  const bool external = proto.data_location() == ::onnx::TensorProto::EXTERNAL;
  // Sizes are a claim: memory is taken for what there is.
  const auto present = static_cast<uint64_t>(proto.ByteSizeLong());
  const auto count = static_cast<uint64_t>(elementCount(sizes));
  if (!external && count > 2 * present)
    throw ModelError(cat(placeOf(proto), " has sizes ", listText(sizes), ", but data of ", present, " bytes at most."));
  if (external && count * traits(type).hostBytes > (uint64_t{1} << 36))
    throw ModelError(cat(placeOf(proto), " has sizes ", listText(sizes), ", expected at most 2^36 bytes."));
  HostTensor tensor(type, sizes);
  if (external)
    readExternal(proto, folder, tensor);
  else if (proto.has_raw_data())
    readBytes(std::as_bytes(std::span(proto.raw_data())), proto, tensor);
  else
    readFields(proto, tensor);
  return tensor;
}

}  // namespace dimple::onnx
