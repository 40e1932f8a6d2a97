// A Direct3D 12 device and queue that Dimple opens itself, for programs that own none.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_d3d12/fault.h"
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
  // A queue of its own on another's device.
  static Result<std::unique_ptr<OpenedDevice>> over(ID3D12Device& device);
  ~OpenedDevice();
  OpenedDevice(const OpenedDevice&) = delete;
  OpenedDevice& operator=(const OpenedDevice&) = delete;

  ID3D12Device& device() const { return *device_.Get(); }
  ID3D12CommandQueue& queue() const { return *queue_.Get(); }
  const AdapterInfo& adapter() const { return adapter_; }

  // A compute list in the recording state, with an allocator of its own, so that lists record on different threads.
  Result<ComPtr<ID3D12GraphicsCommandList>> createList();
  // Empties and reopens a list of createList whose executions are done. If that fails, the list is not executed any
  // more until it succeeds.
  Status resetList(ID3D12GraphicsCommandList& list);
  Result<ComPtr<ID3D12DescriptorHeap>> createDescriptorHeap(uint32_t count);

  // Submits to the queue; the value to wait for.
  Result<uint64_t> submit(ID3D12CommandList& list);
  Status wait(uint64_t value);
  // Waits for everything that was submitted; on a removed device nothing executes. If that could not be found out, what
  // may be in use has to be left alone.
  Outcome settle();
  // Copies between host memory and a buffer in a DEFAULT heap, after all work submitted before.
  Status upload(ID3D12Resource& buffer, uint64_t offset, const void* data, uint64_t bytes);
  Status download(ID3D12Resource& buffer, uint64_t offset, void* data, uint64_t bytes);

 private:
  OpenedDevice() = default;
  Status createQueue();
  Outcome trySettle();
  Result<ComPtr<ID3D12CommandAllocator>> takeAllocator();
  // Refuses to use staging memory that an earlier transfer may still use.
  Status checkStaging();
  Status copy(ID3D12Resource& buffer, uint64_t offset, const Buffer& staging, uint64_t bytes, bool upload);

  AdapterInfo adapter_;
  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12Fence> fence_;
  std::shared_ptr<AllocatorPool> pool_;
  std::unique_ptr<Staging<Buffer>> uploads_ = std::make_unique<Staging<Buffer>>();
  std::unique_ptr<Staging<Buffer>> downloads_ = std::make_unique<Staging<Buffer>>();
  std::mutex mutex_;                     // orders submissions with their fence values
  uint64_t signalled_ = 0;               // the last fence value that the queue was told to signal
  std::atomic<bool> unsettled_ = false;  // work may execute that nobody could wait for
};

}  // namespace dimple::d3d12
