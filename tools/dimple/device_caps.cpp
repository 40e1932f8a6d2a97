#include "tools/dimple/device_caps.h"

#include "backend_vulkan/opened_device.h"
#include "core/element_text.h"
#include "core/text.h"
#include "tools/dimple/failure.h"

namespace dimple::tool {

Caps capsOf(const DeviceOptions& options) {
  vulkan::OpenOptions open;
  const auto uuid = parseUuid(options.device);
  if (uuid)
    open.uuid = uuid->data();
  else if (const auto index = parseNumber<uint32_t>(options.device))
    open.index = *index;
  else
    open.name = options.device;
  const auto opened = vulkan::OpenedDevice::open(open);
  if (!opened) throw InputError(cat("The device cannot be opened (--caps default needs none): ", opened.error().text));
  return (*opened)->device().caps();
}

}  // namespace dimple::tool
