#include "kernels/kernel_code.h"

#define ZLIB_CONST  // inputs of streams
#include <zlib.h>

#include <bit>
#include <cstddef>
#include <new>
#include <span>

#include "kernels/packed_words.h"

namespace dimple {
namespace {

// Unpacks the first bytes of a stream. Only memory can lack: the streams are part of the library.
void unpack(const PackedCode& code, std::span<uint8_t> to) {
  static_assert(std::endian::native == std::endian::little);
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<const Bytef*>(code.stream);
  stream.avail_in = code.streamBytes;
  stream.next_out = to.data();
  stream.avail_out = static_cast<uInt>(to.size());
  const int result = inflate(&stream, Z_SYNC_FLUSH);
  inflateEnd(&stream);
  if ((result != Z_OK && result != Z_STREAM_END) || stream.avail_out != 0) throw std::bad_alloc();
}

}  // namespace

std::vector<uint32_t> unpackSpirv(const KernelInfo& kernel) {
  std::vector<uint8_t> bytes(kernel.spirv.bytes);
  if (!bytes.empty()) unpack(kernel.spirv, bytes);
  return unpackWords(bytes);
}

std::vector<uint8_t> unpackDxil(const KernelModule& module) {
  std::vector<uint8_t> code(module.bytes == 0 ? 0 : size_t{module.offset} + module.bytes);
  if (code.empty()) return code;
  unpack(module.code, code);
  code.erase(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(module.offset));
  return code;
}

}  // namespace dimple
