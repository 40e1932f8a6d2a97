// What executing nodes of a graph is expected to take, for deciding how they execute.
#pragma once

#include <cstdint>

namespace dimple {

class OpView;
struct Plan;

// A rewrite is made where it is expected to take less than what it replaces by this factor.
constexpr double kLeastGain = 1.1;

// An element-wise operator on its own. `bytes`: of the tensors that it reads and writes.
double nodeNanoseconds(const Plan& plan, uint64_t bytes);

// A chain of such operators.
double chainNanoseconds(const Plan& plan, const OpView& chain);

}  // namespace dimple
