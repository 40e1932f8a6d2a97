#include "kernels/kernel_code.h"

#include <zlib.h>

#include <bit>
#include <cstddef>
#include <new>

namespace dimple {
namespace {

// Only memory can lack: the streams are part of the library.
void unpack(const PackedCode& code, uint8_t* to) {
  static_assert(std::endian::native == std::endian::little);
  uLongf size = code.bytes;
  if (uncompress(to, &size, reinterpret_cast<const Bytef*>(code.stream), code.streamBytes) != Z_OK)
    throw std::bad_alloc();
}

}  // namespace

std::vector<uint32_t> unpackSpirv(const KernelInfo& kernel) {
  std::vector<uint32_t> words(kernel.spirv.bytes / sizeof(uint32_t));
  if (!words.empty()) unpack(kernel.spirv, reinterpret_cast<uint8_t*>(words.data()));
  return words;
}

std::vector<uint8_t> unpackDxil(const KernelModule& module) {
  std::vector<uint8_t> all(module.code.bytes);
  if (all.empty()) return all;
  unpack(module.code, all.data());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(module.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(module.bytes)};
}

}  // namespace dimple
