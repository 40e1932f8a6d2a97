// All that the injector knows of Direct3D 12.
#pragma once

#include <cstdint>

// The classes of objects, by their interfaces.
#define DIMPLE_D3D12_CLASSES(C) \
  C(ID3D12Device)               \
  C(ID3D12CommandQueue)         \
  C(ID3D12CommandAllocator)     \
  C(ID3D12GraphicsCommandList)  \
  C(ID3D12Fence)                \
  C(ID3D12Resource)             \
  C(ID3D12DescriptorHeap)       \
  C(ID3D12QueryHeap)            \
  C(ID3D12RootSignature)        \
  C(ID3D12PipelineState)        \
  C(ID3DBlob)

// The methods that Dimple calls and that may fail, with the number of their arguments; QueryInterface, GetDevice and
// GetHeapProperties only copy what is there:
//   CREATES(type, method, arguments, what): the last argument receives an object
//   ANSWERS(type, method, arguments): its answer may be that the device is removed
//   LOOKS_UP(type, method, arguments): it asks no device
#define DIMPLE_D3D12_METHODS(CREATES, ANSWERS, LOOKS_UP)                    \
  CREATES(ID3D12Device, CreateCommandQueue, 3, ID3D12CommandQueue)          \
  CREATES(ID3D12Device, CreateCommandAllocator, 3, ID3D12CommandAllocator)  \
  CREATES(ID3D12Device, CreateComputePipelineState, 3, ID3D12PipelineState) \
  CREATES(ID3D12Device, CreateCommandList, 6, ID3D12GraphicsCommandList)    \
  CREATES(ID3D12Device, CreateDescriptorHeap, 3, ID3D12DescriptorHeap)      \
  CREATES(ID3D12Device, CreateRootSignature, 5, ID3D12RootSignature)        \
  CREATES(ID3D12Device, CreateCommittedResource, 7, ID3D12Resource)         \
  CREATES(ID3D12Device, CreateFence, 4, ID3D12Fence)                        \
  CREATES(ID3D12Device, CreateQueryHeap, 3, ID3D12QueryHeap)                \
  LOOKS_UP(ID3D12Device, CheckFeatureSupport, 3)                            \
  ANSWERS(ID3D12Device, GetDeviceRemovedReason, 0)                          \
  ANSWERS(ID3D12CommandQueue, Signal, 2)                                    \
  ANSWERS(ID3D12CommandQueue, GetTimestampFrequency, 1)                     \
  ANSWERS(ID3D12CommandAllocator, Reset, 0)                                 \
  ANSWERS(ID3D12GraphicsCommandList, Close, 0)                              \
  ANSWERS(ID3D12GraphicsCommandList, Reset, 2)                              \
  LOOKS_UP(ID3D12GraphicsCommandList, SetPrivateDataInterface, 2)           \
  LOOKS_UP(ID3D12GraphicsCommandList, GetPrivateData, 3)                    \
  ANSWERS(ID3D12Fence, SetEventOnCompletion, 2)                             \
  ANSWERS(ID3D12Resource, Map, 3)

namespace dimple::faults {

enum class Object : uint8_t {
#define DIMPLE_ENUM(type) type,
  DIMPLE_D3D12_CLASSES(DIMPLE_ENUM)
#undef DIMPLE_ENUM
      Count
};

// The methods, and the functions of the library.
enum class Call : uint8_t {
  CreateDevice,
  SerializeRootSignature,
#define DIMPLE_ENUM(type, method, ...) type##_##method,
  DIMPLE_D3D12_METHODS(DIMPLE_ENUM, DIMPLE_ENUM, DIMPLE_ENUM)
#undef DIMPLE_ENUM
      Count
};

}  // namespace dimple::faults
