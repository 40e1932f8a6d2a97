// Blocks of four rows and four columns of a walk, for operands that are turned: dense along another dimension than the
// output (kernels/elementwise/blocks.glsl).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/layout.h"

namespace dimple {

struct Blocks {
  Walk walk;              // from block to block
  uint32_t standing = 0;  // bits of operands that stand still along rows
  uint32_t turned = 0;    // ... of those that are turned
  std::array<uint32_t, kIndexedOperands> steps{};
};

constexpr uint32_t kBlockElements = 16;

// Of a part of a walk through inputs and an output, the last of them, along whose innermost dimension it is dense. No
// value if no input is turned, two lie along different dimensions, or blocks do not consist of whole vectors of four
// elements.
std::optional<Blocks> blocksOf(const Walk& part, uint32_t output);

}  // namespace dimple
