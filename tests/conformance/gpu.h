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
  DimpleBackend backend = DIMPLE_BACKEND_VULKAN;
  std::string adapterName;  // a part of it; empty: by index
  UINT adapterIndex = 0;
  DimpleContextFlags flags = DIMPLE_CONTEXT_FLAG_NONE;
  std::string pipelineCachePath;
  std::string options;  // of Dimple
};

std::string_view backendName(DimpleBackend backend);

class Gpu {
 public:
  // Null if the device cannot be had; `error` is then the reason, a sentence.
  static std::unique_ptr<Gpu> open(const GpuOptions& options, std::string& error);
  // The DirectML of another DLL, over Direct3D 12; Windows only.
  static std::unique_ptr<Gpu> openDll(const std::string& path, std::string& error);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // "vulkan", "d3d12"
  std::string_view backend() const { return backendName(backend_); }
  // Whether its DirectML is Dimple.
  bool isDimple() const { return isDimple_; }
  const std::string& adapter() const { return adapter_; }
  IDimpleContext& context() const { return *context_.Get(); }
  IDMLDevice& device() const { return *device_.Get(); }
  // "E_INVALIDARG: ATensor has ...": what a failed call on this thread answered.
  std::string refusalText(HRESULT result) const;

  // What the validation layers and a removal said since the last call; refused calls are not in it.
  std::vector<std::string> takeMessages();

 private:
  Gpu() = default;
  static void STDMETHODCALLTYPE receive(void* self, DimpleMessageSeverity severity, HRESULT code, const char* text);

  // Before the context, which sends messages until it is gone.
  std::mutex mutex_;
  std::vector<std::string> messages_;
  DimpleBackend backend_ = DIMPLE_BACKEND_VULKAN;
  std::string adapter_;
  bool isDimple_ = true;
  ComPtr<IDimpleContext> context_;
  ComPtr<IDMLDevice> device_;
};

}  // namespace dimple::testing
