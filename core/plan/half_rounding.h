// What back ends ask a device of conversions to FLOAT16.
#pragma once

#include "core/plan/plan.h"

namespace dimple {

// How many words lookAtHalves writes.
constexpr uint32_t kHalfAnswers = 256;

// A dispatch that writes 1 to each of these words if its conversions to FLOAT16 round to nearest, ties to even, and 0
// to some if not. It reads no parameters.
Dispatch lookAtHalves(const BufferRange& known);

}  // namespace dimple
