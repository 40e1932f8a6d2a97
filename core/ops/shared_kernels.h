// Which kernels are worth their compilation.
#pragma once

#include <cstdint>

#include "core/directml.h"
#include "core/target.h"

namespace dimple {

// Whether operators share a few kernels that compile fast. A software driver takes a second or more for a large kernel,
// unless its module is cut down for each dispatch first, and has few cores to keep busy. Without estimates each
// operator has the kernel that a GPU gets.
inline bool sharesKernels(const Target& target) {
  return target.caps.isProcessor && !target.caps.fixesParameters && target.options.estimates;
}

// Of convolutions: larger ones repay the compilation of their own kernels within a few executions.
inline bool sharesKernels(const Target& target, uint64_t multiplyAdds) {
  constexpr uint64_t kLarge = uint64_t{1} << 25;
  return multiplyAdds < kLarge && sharesKernels(target);
}

// A count that loops of a kernel have as a constant (KNOWN in kernels/common/walk.glsl), or 0: on a CPU, such loops
// cost little beside another pipeline for each count.
inline uint32_t constantOnGpus(const Target& target, uint32_t count) {
  return target.caps.isProcessor && target.options.estimates ? 0 : count;
}

// Whether an activation of a product is a dispatch of its own: such a driver takes longer for another pipeline of the
// product's kernel than for one of the activation, if this is much code.
bool activatesApart(const Target& target, DML_OPERATOR_TYPE activation);

constexpr const char* kSharesKernels = "On a CPU, other operators share another kernel.";

}  // namespace dimple
