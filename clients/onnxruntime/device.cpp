#include "clients/onnxruntime/device.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "clients/onnxruntime/device_call.h"
#include "clients/uuid.h"

namespace dimple::ort {

using onnx::cat;

namespace {

constexpr UINT32 kProcessor = 4;  // VK_PHYSICAL_DEVICE_TYPE_CPU
constexpr const char* kTiming = "Kernels cannot be timed";

void STDMETHODCALLTYPE receiveTime(void* times, const char* kernel, double nanoseconds) {
  static_cast<std::vector<KernelTime>*>(times)->push_back(
      {kernel, std::chrono::nanoseconds(std::llround(nanoseconds))});
}

}  // namespace

Device::Device(const DimpleAdapterDesc& adapter, const std::string& pipelineCache) {
  DimpleContextDesc desc{};
  desc.Backend = DIMPLE_BACKEND_VULKAN;
  desc.AdapterUuid = adapter.DeviceUuid;
  if (!pipelineCache.empty()) desc.PipelineCachePath = pipelineCache.c_str();
  checkDevice(dimpleCreateContext(&desc, IID_PPV_ARGS(&context_)), "The device cannot be opened");
  checkDevice(context_->GetDevice(IID_PPV_ARGS(&dml_)), "The device cannot be opened");
  heap_ = std::make_unique<Heap>(*context_.Get(), *dml_.Get(), Heap::Kind::Device);
  hostHeap_ = std::make_unique<Heap>(*context_.Get(), *dml_.Get(), Heap::Kind::Host);
  submissions_ = std::make_unique<Submissions>(*context_.Get());
}

void Device::upload(const onnx::BufferRange& to, const void* data, size_t bytes) {
  if (const onnx::BufferRange from = hostHeap_->tryFind(data, bytes); from.buffer && bytes) {
    copy(from, to, bytes);
    return;
  }
  checkDevice(context_->Upload(to.buffer.Get(), to.offset, data, bytes), "A tensor cannot be uploaded");
}

void Device::download(const onnx::BufferRange& from, void* data, size_t bytes) {
  if (const onnx::BufferRange to = hostHeap_->tryFind(data, bytes); to.buffer && bytes) {
    copy(from, to, bytes);
    return;
  }
  checkDevice(context_->Download(from.buffer.Get(), from.offset, data, bytes), "A tensor cannot be downloaded");
}

void Device::wait() { submissions_->wait(submissions_->mark()); }

void Device::copy(const onnx::BufferRange& from, const onnx::BufferRange& to, size_t bytes) {
  submissions_->wait(submissions_->copy(from, to, bytes));
}

void Device::check() const {
  // The reason alone has no words.
  if (FAILED(dml_->GetDeviceRemovedReason())) checkDevice(context_->Wait(0), "The device was removed");
}

onnx::ComPtr<ID3D12Resource> Device::import(int file, size_t bytes) const {
  onnx::ComPtr<ID3D12Resource> buffer;
  checkDevice(dimpleImportBuffer(dml_.Get(), file, bytes, &buffer), "Memory cannot be imported");
  return buffer;
}

bool Device::canImport() const {
  onnx::ComPtr<ID3D12Resource> none;
  return dimpleImportBuffer(dml_.Get(), -1, 1, &none) == E_INVALIDARG;
}

onnx::ComPtr<ID3D12Fence> Device::importSemaphore(int file) const {
  onnx::ComPtr<ID3D12Fence> semaphore;
  checkDevice(dimpleImportSemaphore(dml_.Get(), file, &semaphore), "A semaphore cannot be imported");
  return semaphore;
}

bool Device::canImportSemaphores() const {
  onnx::ComPtr<ID3D12Fence> none;
  return dimpleImportSemaphore(dml_.Get(), -1, &none) == E_INVALIDARG;
}

void Device::waitFor(ID3D12Fence& semaphore, UINT64 value) const {
  checkDevice(dimpleWaitSemaphore(dml_.Get(), &semaphore, value), "A semaphore cannot be waited for");
}

void Device::signal(ID3D12Fence& semaphore, UINT64 value) const {
  checkDevice(dimpleSignalSemaphore(dml_.Get(), &semaphore, value), "A semaphore cannot be signalled");
}

void Device::setTiming(bool timing) const { checkDevice(context_->SetProfiling(timing), kTiming); }

std::vector<KernelTime> Device::times() const {
  std::vector<KernelTime> times;
  checkDevice(context_->ReadProfile(receiveTime, &times), "The times of kernels cannot be read");
  return times;
}

const std::string& Device::timingRefusal() {
  std::call_once(timingIsKnown_, [&] {
    const std::lock_guard lock(recording_);
    try {
      setTiming(true);
      setTiming(false);
    } catch (const onnx::DeviceError& error) {
      timingRefusal_ = error.what();
    }
  });
  return timingRefusal_;
}

std::string Adapter::uuid() const { return uuidText(desc_.DeviceUuid); }

std::string Adapter::text() const { return cat(index_, " (", desc_.Name, ", UUID ", uuid(), ")"); }

bool Adapter::isProcessor() const { return desc_.DeviceType == kProcessor; }

Device& Adapter::device() {
  {
    const std::lock_guard lock(mutex_);
    if (!devices_.empty()) return *devices_.back();
  }
  return open(defaultPipelineCache());
}

Device& Adapter::open(const std::string& pipelineCache) {
  const std::lock_guard lock(mutex_);
  if (devices_.empty() || FAILED(devices_.back()->dml().GetDeviceRemovedReason()))
    devices_.push_back(std::make_unique<Device>(desc_, pipelineCache));
  return *devices_.back();
}

std::string Adapter::defaultPipelineCache() {
  const char* folder = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path path;
  if (folder && *folder)
    path = folder;
  else if (home && *home)
    path = std::filesystem::path(home) / ".cache";
  else
    return {};
  path /= "dimple";
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? std::string() : (path / "pipelines.bin").string();
}

}  // namespace dimple::ort
