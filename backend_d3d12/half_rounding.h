// A look at how a device converts numbers to FLOAT16.
#pragma once

namespace dimple::d3d12 {

class Device;

// Whether a dispatch shows that it rounds to nearest, ties to even, which shader model 6.2 leaves open. False, too, if
// nothing could be dispatched. The device has native 16-bit operations and takes modules that convert so.
bool roundsHalves(Device& device);

}  // namespace dimple::d3d12
