// Device memory: buffers for callers that own no Direct3D, and for parameter blocks.
#pragma once

#include <memory>

#include "backend_d3d12/d3d12.h"
#include "core/result.h"
#include "core/support/parameter_memory.h"

namespace dimple::d3d12 {

// A buffer with memory of its own.
class Buffer {
 public:
  // In a DEFAULT heap it allows unordered access; in UPLOAD and READBACK heaps it is mapped for its lifetime.
  static Result<std::unique_ptr<Buffer>> create(ID3D12Device& device, uint64_t bytes, D3D12_HEAP_TYPE heap);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  ID3D12Resource& handle() const { return *resource_.Get(); }
  uint64_t bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

 private:
  explicit Buffer(uint64_t bytes) : bytes_(bytes) {}

  const uint64_t bytes_;
  ComPtr<ID3D12Resource> resource_;
  std::byte* mapped_ = nullptr;
};

using ParameterMemory = ::dimple::ParameterMemory<Buffer>;

}  // namespace dimple::d3d12
