#include "tests/conformance/gpu.h"

#include <cstdio>
#include <utility>

#include "tests/conformance/d3d12_gpu.h"

namespace dimple::testing {

void STDMETHODCALLTYPE Gpu::receive(void* self, DimpleMessageSeverity severity, HRESULT, const char* text) {
  if (severity == DIMPLE_MESSAGE_ERROR) return;
  Gpu& gpu = *static_cast<Gpu*>(self);
  std::lock_guard lock(gpu.mutex_);
  gpu.messages_.emplace_back(text);
}

std::string_view backendName(DimpleBackend backend) { return backend == DIMPLE_BACKEND_D3D12 ? "d3d12" : "vulkan"; }

std::unique_ptr<Gpu> Gpu::open(const GpuOptions& options, std::string& error) {
  std::unique_ptr<Gpu> gpu(new Gpu);
  gpu->backend_ = options.backend;
  DimpleContextDesc desc{};
  desc.Backend = options.backend;
  desc.AdapterName = options.adapterName.empty() ? nullptr : options.adapterName.c_str();
  desc.AdapterIndex = options.adapterIndex;
  desc.Flags = options.flags;
  desc.MessageCallback = receive;
  desc.MessageContext = gpu.get();
  desc.PipelineCachePath = options.pipelineCachePath.empty() ? nullptr : options.pipelineCachePath.c_str();
  desc.Options = options.options.c_str();
  HRESULT result = dimpleCreateContext(&desc, IID_PPV_ARGS(&gpu->context_));
  if (SUCCEEDED(result)) result = gpu->context_->GetDevice(IID_PPV_ARGS(&gpu->device_));
  DimpleAdapterDesc adapter{};
  if (SUCCEEDED(result)) result = gpu->context_->GetAdapterDesc(&adapter);
  if (FAILED(result)) {
    error = gpu->refusalText(result);
    return nullptr;
  }
  gpu->adapter_ = adapter.Name;
  return gpu;
}

std::unique_ptr<Gpu> Gpu::openDll([[maybe_unused]] const std::string& path, std::string& error) {
#ifdef _WIN32
  std::unique_ptr<Gpu> gpu(new Gpu);
  gpu->isDimple_ = false;
  gpu->backend_ = DIMPLE_BACKEND_D3D12;
  gpu->adapter_ = path;
  gpu->context_ = openDllContext(path, error);
  if (!gpu->context_ || FAILED(gpu->context_->GetDevice(IID_PPV_ARGS(&gpu->device_)))) return nullptr;
  return gpu;
#else
  error = "Other DLLs can be tested on Windows only.";
  return nullptr;
#endif
}

std::vector<std::string> Gpu::takeMessages() {
  std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::string Gpu::refusalText(HRESULT result) const {
  char code[16];
  std::snprintf(code, sizeof code, "%08X", static_cast<unsigned>(result));
  const std::string text = isDimple_ ? dimpleGetLastMessage() : "";
  return std::string("HRESULT ") + code + (text.empty() ? "." : ": " + text);
}

}  // namespace dimple::testing
