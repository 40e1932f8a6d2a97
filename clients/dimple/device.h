// Opening a device by what the command line says.
#pragma once

#include <dimple.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/dimple/com.h"

namespace CLI {
class App;
}

namespace dimple::tool {

inline constexpr DimpleBackend kBackends[] = {DIMPLE_BACKEND_VULKAN, DIMPLE_BACKEND_D3D12};
// "vulkan", "d3d12"
std::string backendName(DimpleBackend backend);
// Throws InputError.
DimpleBackend parseBackend(std::string_view text);
// The names of the two back ends in the "vulkan,d3d12" of --compare. Throws InputError.
std::pair<std::string, std::string> parseBackendPair(const std::string& text);

struct DeviceOptions {
  std::string backend = "vulkan";
  std::string device = "0";  // index, UUID or part of a name
  bool validate = false;
  std::string options;  // of Dimple
  std::string dll;      // another DirectML.dll, over Direct3D 12; empty: Dimple
};

// --backend, --device and --options.
void addDeviceOption(CLI::App& app, DeviceOptions& options);
// And --validate.
void addDeviceOptions(CLI::App& app, DeviceOptions& options);
// --dll, in builds with tests.
void addDllOption(CLI::App& app, DeviceOptions& options);

using Uuid = std::array<UINT8, 16>;
// 32 hexadecimal digits, dashes between them allowed.
std::optional<Uuid> parseUuid(std::string_view text);

struct AdapterList {
  std::vector<DimpleAdapterDesc> adapters;
  std::string refusal;  // why the back end cannot be asked; empty: it was
};
AdapterList listAdapters(DimpleBackend backend);

// A context, its DirectML device, and the messages that arrive from them.
class Device {
 public:
  explicit Device(const DeviceOptions& options);
  Device(const Device&) = delete;

  IDimpleContext& context() const { return *context_.get(); }
  IDMLDevice& dml() const { return *dml_.get(); }
  DimpleBackend backend() const { return backend_; }
  std::string name() const;

  // Throws RunError with Dimple's own message if `result` is a failure. `what` says what was being done.
  void check(HRESULT result, std::string_view what) const;
  // Throws RunError if the device was removed; methods that return nothing report their misuse this way.
  void checkAlive() const;
  // Messages of validation so far.
  int warnings() const { return warnings_; }

 private:
  void openDll(const std::string& path);
  static void STDMETHODCALLTYPE receive(void* self, DimpleMessageSeverity severity, HRESULT code, const char* text);

  const DimpleBackend backend_;
  bool isDimple_ = true;
  std::string removal_;
  int warnings_ = 0;
  // Declared last: destroyed first, while the messages it may send have somewhere to go.
  Com<IDimpleContext> context_;
  Com<IDMLDevice> dml_;
};

}  // namespace dimple::tool
