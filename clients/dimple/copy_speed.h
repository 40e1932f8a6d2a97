// What a device moves at most, by a plain copy in the same run as what is compared with it.
#pragma once

#include "clients/dimple/device.h"

namespace dimple::tool {

struct CopySpeed {
  double bytesPerSecond = 0;    // read and written
  double leastNanoseconds = 0;  // of a dispatch that copies one element
};

// Times dispatches, as ReadTimeline does. Throws RunError.
CopySpeed measureCopy(const Device& device);

}  // namespace dimple::tool
