#include "tests/ops/gpu.h"

#include <cstdio>
#include <utility>

namespace dimple::testing {

void STDMETHODCALLTYPE Gpu::receive(void* self, DimpleMessageSeverity severity, HRESULT, const char* text) {
  if (severity == DIMPLE_MESSAGE_ERROR) return;
  Gpu& gpu = *static_cast<Gpu*>(self);
  std::lock_guard lock(gpu.mutex_);
  gpu.messages_.emplace_back(text);
}

std::unique_ptr<Gpu> Gpu::open(const GpuOptions& options, std::string& error) {
  std::unique_ptr<Gpu> gpu(new Gpu);
  DimpleContextDesc desc{};
  desc.AdapterName = options.adapterName.empty() ? nullptr : options.adapterName.c_str();
  desc.AdapterIndex = options.adapterIndex;
  desc.Flags = options.flags;
  desc.MessageCallback = receive;
  desc.MessageContext = gpu.get();
  desc.PipelineCachePath = options.pipelineCachePath.empty() ? nullptr : options.pipelineCachePath.c_str();
  HRESULT result = dimpleCreateContext(&desc, IID_PPV_ARGS(&gpu->context_));
  if (SUCCEEDED(result)) result = gpu->context_->GetDevice(IID_PPV_ARGS(&gpu->device_));
  DimpleAdapterDesc adapter{};
  if (SUCCEEDED(result)) result = gpu->context_->GetAdapterDesc(&adapter);
  if (FAILED(result)) {
    error = refusalText(result);
    return nullptr;
  }
  gpu->adapter_ = adapter.Name;
  return gpu;
}

std::vector<std::string> Gpu::takeMessages() {
  std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::string refusalText(HRESULT result) {
  char code[16];
  std::snprintf(code, sizeof code, "%08X", static_cast<unsigned>(result));
  const std::string text = dimpleGetLastMessage();
  return std::string("HRESULT ") + code + (text.empty() ? "." : ": " + text);
}

}  // namespace dimple::testing
