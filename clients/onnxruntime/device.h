// A Vulkan device that sessions share.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "clients/onnxruntime/heap.h"
#include "clients/onnxruntime/submissions.h"

namespace dimple::ort {

struct KernelTime {
  std::string kernel;
  std::chrono::nanoseconds duration{};
};

class Device {
 public:
  // Opens it. Throws onnx::DeviceError. `pipelineCache`: the file; empty: none.
  Device(const DimpleAdapterDesc& adapter, const std::string& pipelineCache);

  IDimpleContext& context() const { return *context_.Get(); }
  IDMLDevice& dml() const { return *dml_.Get(); }
  Heap& heap() { return *heap_; }
  // Of host memory from which bytes are uploaded, and to which they are downloaded, without a copy by the host.
  Heap& hostHeap() { return *hostHeap_; }

  // Bytes from host memory, or to it: after all that was submitted before, and done when it returns.
  void upload(const onnx::BufferRange& to, const void* data, size_t bytes);
  void download(const onnx::BufferRange& from, void* data, size_t bytes);
  // Until all that was submitted before is done.
  void wait();
  // In the order of what is submitted, and done when it returns.
  void copy(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes);
  // What is not waited for.
  Submissions& submissions() { return *submissions_; }
  // Throws onnx::DeviceError if the device was removed.
  void check() const;

  // Memory that another device exported: DirectML's buffer of it. Throws onnx::DeviceError.
  onnx::ComPtr<ID3D12Resource> import(int file, size_t bytes) const;
  bool canImport() const;
  // A timeline semaphore that another device exported. Throws onnx::DeviceError.
  onnx::ComPtr<ID3D12Fence> importSemaphore(int file) const;
  bool canImportSemaphores() const;
  // In the order of what is submitted.
  void waitFor(ID3D12Fence& semaphore, UINT64 value) const;
  void signal(ID3D12Fence& semaphore, UINT64 value) const;

  // Runs share it while they record; one that is timed has it alone.
  std::shared_mutex& recording() { return recording_; }
  // Whether kernels that are recorded from now on are timed. Throws onnx::DeviceError where that cannot be.
  void setTiming(bool timing) const;
  // Those since the last call, or since timing began; all of them are done.
  std::vector<KernelTime> times() const;
  // Why kernels cannot be timed; empty: they can.
  const std::string& timingRefusal();

 private:
  onnx::ComPtr<IDimpleContext> context_;
  onnx::ComPtr<IDMLDevice> dml_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<Heap> hostHeap_;
  std::unique_ptr<Submissions> submissions_;  // goes first, since it waits for what uses the heaps
  std::shared_mutex recording_;
  std::once_flag timingIsKnown_;
  std::string timingRefusal_;
};

// A Vulkan device that may be used, opened by whoever needs it first.
class Adapter {
 public:
  explicit Adapter(const DimpleAdapterDesc& desc, UINT index) : desc_(desc), index_(index) {}

  const DimpleAdapterDesc& desc() const { return desc_; }
  UINT index() const { return index_; }
  // "0 (NVIDIA H100, UUID ...)"
  std::string text() const;
  std::string uuid() const;
  bool isProcessor() const;

  // The one that was opened last, or the first. Throws onnx::DeviceError.
  Device& device();
  // For a session: likewise, but another one where that was removed. `pipelineCache`: of one that this call opens.
  Device& open(const std::string& pipelineCache);

  // dimple/pipelines.bin in the user's folder of caches; empty if there is none.
  static std::string defaultPipelineCache();

 private:
  const DimpleAdapterDesc desc_;
  const UINT index_;
  std::mutex mutex_;
  // Those before the last were removed, and belong to sessions that may still be there.
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace dimple::ort
