// What plans are made for, of a device. The public interface does not tell: this looks into the back end.
#pragma once

#include "clients/dimple/device.h"
#include "core/target.h"

namespace dimple::tool {

// Throws InputError if there is no such device, or no such option.
Target targetOf(const DeviceOptions& options);
// Options of the command line, on top of those of DIMPLE_OPTIONS.
Options optionsOf(const DeviceOptions& options);

}  // namespace dimple::tool
