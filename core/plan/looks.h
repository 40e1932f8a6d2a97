// Dispatches by which back ends ask a device what no query tells. They read no parameters.
#pragma once

#include "core/caps.h"
#include "core/plan/plan.h"

namespace dimple {

// Writes 1 to a word if invocations hold the elements of matrices of this shape that kernels/matrix/places.glsl says,
// and 0 if not.
Dispatch lookAtPlaces(const MatrixShape& shape, uint32_t subgroupSize, const BufferRange& known);

// How many words lookAtHalves writes.
constexpr uint32_t kHalfAnswers = 256;

// Writes 1 to each of these words if conversions to FLOAT16 round to nearest, ties to even, and 0 to some if not.
Dispatch lookAtHalves(const BufferRange& known);

}  // namespace dimple
