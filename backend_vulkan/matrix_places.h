// A look at which invocations hold which elements of matrices.
#pragma once

namespace dimple::vulkan {

class OpenedDevice;

// Whether a dispatch shows that they hold those that kernels/matrix/places.glsl says. False, too, if the device has no
// matrices of which that may be so, if options say that it is not, or if nothing could be dispatched.
bool placesAreKnown(OpenedDevice& opened);

}  // namespace dimple::vulkan
