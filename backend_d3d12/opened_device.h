// A Direct3D 12 device and queue that Dimple opens itself, for programs that own none.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_d3d12/memory.h"
#include "core/support/staging.h"

namespace dimple::d3d12 {

struct AdapterInfo {
  ComPtr<IUnknown> handle;  // of DXGI; null: the default adapter
  std::string name;
  std::array<uint8_t, 8> luid{};
  bool luidValid = false;
  uint32_t vendorId = 0;
  uint32_t deviceId = 0;
  uint64_t deviceLocalBytes = 0;
};

struct OpenOptions {
  std::string name;    // a part of the adapter's name, any case; empty: any
  uint32_t index = 0;  // used without a name
  bool validation = false;
};

// Describes the adapters of this machine: DXGI's where there is DXGI, else the default one.
std::vector<AdapterInfo> listAdapters();

class AllocatorPool;

class OpenedDevice {
 public:
  static Result<std::unique_ptr<OpenedDevice>> open(const OpenOptions& options);
  OpenedDevice(const OpenedDevice&) = delete;
  OpenedDevice& operator=(const OpenedDevice&) = delete;

  ID3D12Device& device() const { return *device_.Get(); }
  ID3D12CommandQueue& queue() const { return *queue_.Get(); }
  const AdapterInfo& adapter() const { return adapter_; }

  // A compute list in the recording state, with an allocator of its own, so that lists record on different threads.
  Result<ComPtr<ID3D12GraphicsCommandList>> createList();
  // Empties and reopens a list of createList whose executions are done.
  Status resetList(ID3D12GraphicsCommandList& list);
  Result<ComPtr<ID3D12DescriptorHeap>> createDescriptorHeap(uint32_t count);

  // Submits to the queue; the value to wait for.
  Result<uint64_t> submit(ID3D12CommandList& list);
  Status wait(uint64_t value);
  // Copies between host memory and a buffer in a DEFAULT heap, after all work submitted before.
  Status upload(ID3D12Resource& buffer, uint64_t offset, const void* data, uint64_t bytes);
  Status download(ID3D12Resource& buffer, uint64_t offset, void* data, uint64_t bytes);

 private:
  OpenedDevice() = default;
  Status copy(ID3D12Resource& buffer, uint64_t offset, const Buffer& staging, uint64_t bytes, bool upload);

  AdapterInfo adapter_;
  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12Fence> fence_;
  std::shared_ptr<AllocatorPool> pool_;
  Staging<Buffer> uploads_, downloads_;
  std::mutex mutex_;  // orders submissions with their fence values
};

}  // namespace dimple::d3d12
