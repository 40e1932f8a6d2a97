// What back ends ask a device of matrices.
#pragma once

#include "core/caps.h"
#include "core/plan/plan.h"

namespace dimple {

// A dispatch that writes 1 to a word if invocations hold the elements of matrices of this shape that
// kernels/matrix/places.glsl says, and 0 if not. It reads no parameters.
Dispatch lookAtPlaces(const MatrixShape& shape, uint32_t subgroupSize, const BufferRange& known);

}  // namespace dimple
