// Plans that several families share: an output element from the input elements at the same coordinates.
#pragma once

#include <vector>

#include "core/result.h"

namespace dimple {

class OpView;
struct Caps;
struct MovedPart;
struct Plan;

// One tensor in, one out, with an optional ScaleBias and up to two FLOAT attributes. The kernel is told the operator.
Result<Plan> planUnary(const OpView& view, const Caps& caps);

// Of such an operator that is the identity.
std::vector<MovedPart> partsOfIdentity(const OpView& view);

// Two tensors in, one out, of one data type, with an optional fused activation.
Result<Plan> planBinary(const OpView& view, const Caps& caps);

}  // namespace dimple
