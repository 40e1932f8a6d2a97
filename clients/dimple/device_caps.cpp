#include "clients/dimple/device_caps.h"

#include <cstdlib>

#ifdef DIMPLE_WITH_D3D12
#include "backend_d3d12/device.h"
#endif
#include "backend_vulkan/opened_device.h"
#include "clients/files/failure.h"
#include "core/schema/element_text.h"
#include "core/text.h"

namespace dimple::tool {

namespace {

#ifdef DIMPLE_WITH_D3D12
Caps d3d12Caps(const DeviceOptions& options, bool nativeStorage) {
  const Device device(options);
  d3d12::ComPtr<ID3D12Device> native;
  device.check(device.dml().GetParentDevice(IID_PPV_ARGS(&native)), "The device cannot be inspected");
  Options chosen;
  chosen.nativeStorage = nativeStorage;
  const auto backend = d3d12::Device::create(native.Get(), chosen);
  if (!backend) throw RunError(backend.error().text);
  return (*backend)->caps();
}
#else
// Opening the device gives Dimple's own refusal.
Caps d3d12Caps(const DeviceOptions& options, bool) {
  const Device device(options);
  return {};
}
#endif

}  // namespace

Options optionsOf(const DeviceOptions& options) {
  const char* environment = std::getenv("DIMPLE_OPTIONS");
  Result<Options> parsed = Options{};
  for (const std::string_view text :
       {std::string_view(environment ? environment : ""), std::string_view(options.options)}) {
    parsed = parseOptions(text, std::move(*parsed));
    if (!parsed) throw InputError(parsed.error().text);
  }
  return std::move(*parsed);
}

Target targetOf(const DeviceOptions& options) {
  vulkan::OpenOptions open;
  open.options = optionsOf(options);
  if (parseBackend(options.backend) == DIMPLE_BACKEND_D3D12)
    return {d3d12Caps(options, open.options.nativeStorage), open.options};
  const auto uuid = parseUuid(options.device);
  if (uuid)
    open.uuid = uuid->data();
  else if (const auto index = parseNumber<uint32_t>(options.device))
    open.index = *index;
  else
    open.name = options.device;
  const auto opened = vulkan::OpenedDevice::open(open);
  if (!opened) throw InputError(cat("The device cannot be opened (--caps default needs none): ", opened.error().text));
  return {(*opened)->device().caps(), open.options};
}

}  // namespace dimple::tool
