// Tensors of FLOAT16 in memory of the device that ONNX Runtime binds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/onnx_runtime/runtime.h"

namespace dimple::testing {

using Halves = std::vector<uint16_t>;

inline double numberOf(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const double fraction = half & 1023;
  const double size = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return half & 0x8000 ? -size : size;
}

// Memory of the device.
class Buffer {
 public:
  Buffer(const Device& device, size_t bytes) : device_(device), bytes_(bytes) {
    resource_ = make(D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_STATE_COMMON);
  }

  ID3D12Resource* get() const { return resource_.Get(); }

  void write(const void* data) {
    const auto from = make(D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_STATE_GENERIC_READ);
    void* mapped = nullptr;
    check(from->Map(0, nullptr, &mapped), "Map");
    std::memcpy(mapped, data, bytes_);
    from->Unmap(0, nullptr);
    copy(from.Get(), resource_.Get());
  }
  void read(void* data) {
    const auto to = make(D3D12_HEAP_TYPE_READBACK, D3D12_RESOURCE_STATE_COPY_DEST);
    copy(resource_.Get(), to.Get());
    void* mapped = nullptr;
    check(to->Map(0, nullptr, &mapped), "Map");
    std::memcpy(data, mapped, bytes_);
    to->Unmap(0, nullptr);
  }

 private:
  ComPtr<ID3D12Resource> make(D3D12_HEAP_TYPE type, D3D12_RESOURCE_STATES state) const {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = type;
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = bytes_;
    desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    if (type == D3D12_HEAP_TYPE_DEFAULT) desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    ComPtr<ID3D12Resource> made;
    check(
        device_.d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&made)),
        "CreateCommittedResource");
    return made;
  }

  void copy(ID3D12Resource* from, ID3D12Resource* to) {
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Fence> fence;
    check(device_.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)),
          "CreateCommandAllocator");
    check(device_.d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr,
                                           IID_PPV_ARGS(&list)),
          "CreateCommandList");
    check(device_.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
    list->CopyBufferRegion(to, 0, from, 0, bytes_);
    check(list->Close(), "Close");
    ID3D12CommandList* const lists[] = {list.Get()};
    device_.queue->ExecuteCommandLists(1, lists);
    check(device_.queue->Signal(fence.Get(), 1), "Signal");
    while (fence->GetCompletedValue() < 1) Sleep(1);
  }

  const Device& device_;
  size_t bytes_;
  ComPtr<ID3D12Resource> resource_;
};

// What ONNX Runtime makes of memory of the device.
class Tensor {
 public:
  Tensor(const DmlApi& api, Buffer& buffer, const std::vector<int64_t>& sizes, size_t bytes) : api_(api) {
    Ort::ThrowOnError(api.allocationOf(buffer.get(), &allocation_));
    const Ort::MemoryInfo memory("DML", OrtDeviceAllocator, 0, OrtMemTypeDefault);
    value = Ort::Value::CreateTensor(memory, allocation_, bytes, sizes.data(), sizes.size(),
                                     ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
  }
  Tensor(const Tensor&) = delete;
  ~Tensor() {
    value = Ort::Value{nullptr};
    Ort::Status(api_.freeAllocation(allocation_));
  }

  Ort::Value value{nullptr};

 private:
  const DmlApi& api_;
  void* allocation_ = nullptr;
};

}  // namespace dimple::testing
