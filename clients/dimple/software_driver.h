// A driver for machines that have none.
#pragma once

namespace dimple::tool {

// In a build folder, where no driver is installed or chosen: the software driver that tools/setup.sh unpacked.
void chooseSoftwareDriver();

}  // namespace dimple::tool
