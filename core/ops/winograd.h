// Convolutions of 3 x 3 windows by fewer multiplications (kernels/winograd/winograd.glsl).
#pragma once

#include "core/ops/product_kernels.h"

namespace dimple {

// Adds the dispatches of a CONVOLUTION if one of the ways suits it; true then. Else only notes why not.
Result<bool> addWinograd(PlanBuilder& builder, const Request& request, const FloatFinish& finish);

}  // namespace dimple
