// SPIR-V modules without the code that specialization constants rule out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/plan.h"

namespace dimple::vulkan {

// The module with `values` as the defaults of its specialization constants, in which a selection over a value that they
// determine has only the branch it takes, functions are copied for the arguments that follow from them, calls are
// replaced by what they execute, and nothing is left that is not used (simplify.h). Compilers read and inline whole
// modules before they look at constants; a kernel of one function out of sixty compiles several times faster this way.
// `fixed` are the first words of the parameter block, if the module is for these alone: an interpreter of a program
// becomes the program. Without `unroll`, loops ask to stay loops, which llvmpipe compiles in half the time and runs at
// half the speed.
// Returns a module it does not understand unchanged: `values` have to be given to the driver all the same.
std::vector<uint32_t> specialize(std::span<const uint32_t> module, std::span<const Specialization> values,
                                 std::span<const uint32_t> fixed = {}, bool unroll = true);

}  // namespace dimple::vulkan
