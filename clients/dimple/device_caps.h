// What a device can do, as the planner sees it. The public interface does not tell: this looks into the back end.
#pragma once

#include "clients/dimple/device.h"
#include "core/caps.h"

namespace dimple::tool {

// Throws InputError if there is no such device.
Caps capsOf(const DeviceOptions& options);

}  // namespace dimple::tool
