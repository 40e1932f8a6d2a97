#include "clients/files/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "clients/file_reason.h"
#include "clients/files/failure.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeCode {
  std::string_view code;
  DataType type;
};
constexpr TypeCode kTypeCodes[] = {
    {"f2", DML_TENSOR_DATA_TYPE_FLOAT16}, {"f4", DML_TENSOR_DATA_TYPE_FLOAT32}, {"f8", DML_TENSOR_DATA_TYPE_FLOAT64},
    {"u1", DML_TENSOR_DATA_TYPE_UINT8},   {"u2", DML_TENSOR_DATA_TYPE_UINT16},  {"u4", DML_TENSOR_DATA_TYPE_UINT32},
    {"u8", DML_TENSOR_DATA_TYPE_UINT64},  {"i1", DML_TENSOR_DATA_TYPE_INT8},    {"i2", DML_TENSOR_DATA_TYPE_INT16},
    {"i4", DML_TENSOR_DATA_TYPE_INT32},   {"i8", DML_TENSOR_DATA_TYPE_INT64},   {"b1", DML_TENSOR_DATA_TYPE_UINT8},
};

// The text between the value's first character and one of `ends` in {'descr': '<f4', 'fortran_order': False, ...}.
std::string_view headerValue(std::string_view header, std::string_view key, std::string_view begin, char end) {
  auto at = header.find(cat("'", key, "'"));
  if (at == header.npos) return {};
  at = header.find(begin, at + key.size() + 2);
  if (at == header.npos) return {};
  at += begin.size();
  const auto stop = header.find(end, at);
  return stop == header.npos ? std::string_view{} : header.substr(at, stop - at);
}

}  // namespace

NpyArray readNpy(const std::filesystem::path& path) {
  const auto file = readFile(path);
  const auto refuse = [&](std::string_view why) -> InputError { return InputError(cat(path.string(), " ", why)); };
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || text.size() < 12) throw refuse("is not a .npy file.");
  const auto byteAt = [&](size_t i) { return static_cast<uint32_t>(file[i]); };
  const size_t lengthBytes = byteAt(6) == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i) length |= size_t{byteAt(8 + i)} << (8 * i);
  const size_t start = 8 + lengthBytes;
  if (length > text.size() - start) throw refuse("is cut short.");
  const std::string_view header = text.substr(start, length);

  NpyArray array;
  const std::string_view descr = headerValue(header, "descr", "'", '\'');
  const auto code = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                 [&](const TypeCode& c) { return descr.size() == 3 && descr.substr(1) == c.code; });
  if (code == std::end(kTypeCodes) || descr.front() == '>')
    throw refuse(cat("has the element type '", descr, "', which is not a little-endian type of a tensor."));
  array.type = code->type;
  if (headerValue(header, "fortran_order", ":", ',').find("True") != header.npos)
    throw refuse("is in Fortran order, expected C order.");
  std::string_view shape = headerValue(header, "shape", "(", ')');
  uint64_t elements = 1;
  while (!shape.empty()) {
    const auto comma = std::min(shape.find(','), shape.size());
    std::string_view size = shape.substr(0, comma);
    shape.remove_prefix(std::min(comma + 1, shape.size()));
    while (size.starts_with(' ')) size.remove_prefix(1);
    if (size.empty()) continue;
    const auto value = parseNumber<uint64_t>(size);
    if (!value || (*value && elements > UINT64_MAX / 8 / *value))
      throw refuse("has a shape that is not a list of sizes.");
    array.sizes.push_back(*value);
    elements *= *value;
  }
  const uint64_t bytes = elements * byteWidth(array.type);
  if (file.size() - start - length != bytes)
    throw refuse(cat("holds ", file.size() - start - length, " bytes of elements, but its header says ", bytes, "."));
  array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(start + length), file.end());
  return array;
}

void writeNpy(const std::filesystem::path& path, DataType type, std::span<const uint32_t> sizes,
              std::span<const std::byte> bytes) {
  const auto code =
      std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes), [&](const TypeCode& c) { return c.type == type; });
  if (code == std::end(kTypeCodes))
    throw RunError(cat(path.string(), " cannot be written: .npy has no type for ", dataTypeName(type), "."));
  std::string shape;
  for (const uint32_t size : sizes) shape += cat(size, ",");
  std::string header = cat("{'descr': '", byteWidth(type) == 1 ? "|" : "<", code->code,
                           "', 'fortran_order': False, 'shape': (", shape, "), }");
  // The elements begin at a multiple of 64 bytes.
  const size_t start = kMagic.size() + 4;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += "\n";
  std::vector<std::byte> file(start + header.size() + bytes.size());
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  file[6] = std::byte{1};
  file[7] = std::byte{0};
  file[8] = static_cast<std::byte>(header.size() & 255);
  file[9] = static_cast<std::byte>(header.size() >> 8);
  std::memcpy(file.data() + start, header.data(), header.size());
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(start + header.size()));
  writeFile(path, file);
}

std::vector<std::byte> readFile(const std::filesystem::path& path) {
  if (const std::string reason = whyUnreadable(path); !reason.empty())
    throw InputError(cat(path.string(), " cannot be read: ", reason, "."));
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw InputError(cat(path.string(), " cannot be read: ", error.message(), "."));
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw InputError(cat(path.string(), " cannot be read."));
  return bytes;
}

void writeFile(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw RunError(cat(path.string(), " cannot be written", whyUnwritten(path, errno)));
}

}  // namespace dimple::tool
