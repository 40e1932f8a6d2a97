// A device to run tests on, with the messages that it sends.
#pragma once

#include <dimple.h>

#include <wrl/client.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dimple::testing {

using Microsoft::WRL::ComPtr;

struct GpuOptions {
  std::string adapterName;  // a part of it; empty: by index
  UINT adapterIndex = 0;
  DimpleContextFlags flags = DIMPLE_CONTEXT_FLAG_NONE;
  std::string pipelineCachePath;
};

class Gpu {
 public:
  // Null if the device cannot be had; `error` is then the reason, a sentence.
  static std::unique_ptr<Gpu> open(const GpuOptions& options, std::string& error);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::string_view backend() const { return "vulkan"; }
  const std::string& adapter() const { return adapter_; }
  IDimpleContext& context() const { return *context_.Get(); }
  IDMLDevice& device() const { return *device_.Get(); }

  // What the validation layers and a removal said since the last call; refused calls are not in it.
  std::vector<std::string> takeMessages();

 private:
  Gpu() = default;
  static void STDMETHODCALLTYPE receive(void* self, DimpleMessageSeverity severity, HRESULT code, const char* text);

  // Before the context, which sends messages until it is gone.
  std::mutex mutex_;
  std::vector<std::string> messages_;
  std::string adapter_;
  ComPtr<IDimpleContext> context_;
  ComPtr<IDMLDevice> device_;
};

// "E_INVALIDARG: ATensor has ...": what a failed call on this thread answered.
std::string refusalText(HRESULT result);

}  // namespace dimple::testing
