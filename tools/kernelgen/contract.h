// Products that are added at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kernelgen {

// A module of SPIR-V in which a sum with a product of FLOAT32 that no one else reads is one instruction, Fma. GLSL lets
// drivers do that unless the result is precise, and what computes products takes half the instructions. DXC's -Gis lets
// nobody: there it has to stand in the code.
std::vector<uint32_t> contractProducts(std::span<const uint32_t> words);

}  // namespace kernelgen
