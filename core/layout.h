// Views of tensors for kernels: coalesced dimensions, divisors as multipliers, grids folded into device limits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "core/caps.h"
#include "core/tensor.h"

namespace dimple {

// The number of tensors that are walked together, and the number of them that a kernel indexes with common/walk.glsl.
constexpr uint32_t kMaxOperands = 8;
constexpr uint32_t kIndexedOperands = 4;
// The most dimensions of a walk: each dimension of a tensor may become two, blocks and what is inside them.
constexpr uint32_t kMaxWalkRank = 2 * kMaxRank;

// Unsigned division by an invariant: n / d == (t + ((n - t) >> shift1)) >> shift2 with t = high word of n * multiplier,
// for every 32-bit n (Granlund and Montgomery 1994, figure 4.1).
struct Divisor {
  uint32_t multiplier;
  uint32_t shift1;
  uint32_t shift2;
};
Divisor makeDivisor(uint32_t divisor);

// Appends four parameter words: `first`, and the division by `divisor`, where 0 counts as 1.
void appendDivisor(std::vector<uint32_t>& words, uint32_t first, uint32_t divisor);
inline void appendDivisor(std::vector<uint32_t>& words, uint32_t size) { appendDivisor(words, size, size); }

// A FLOAT32 as parameter and push words hold it.
constexpr uint32_t floatBits(float value) { return std::bit_cast<uint32_t>(value); }
constexpr uint32_t floatBits(double value) { return floatBits(static_cast<float>(value)); }

// How a kernel walks several tensors at once: sizes and, for each operand, a stride per dimension. Strides and bases
// are element counts modulo 2^32, so negative strides work.
struct Walk {
  uint32_t rank = 0;  // 0: one element
  std::array<uint32_t, kMaxWalkRank> sizes{};
  std::array<std::array<uint32_t, kMaxOperands>, kMaxWalkRank> strides{};
  std::array<uint32_t, kMaxOperands> base{};

  uint64_t count() const;

  // Appends a dimension inside the ones before.
  void addDimension(uint32_t size, const std::array<uint32_t, kMaxOperands>& stride);

  // Drops dimensions of size 1, and merges neighbours that every operand steps through evenly. The order is kept, so
  // the row-major index of an element does not change. Returns the walk.
  Walk& coalesce();

  // Orders dimensions by descending stride of one operand. Only for kernels to which the order does not matter.
  void sortBy(uint32_t operand);
  // Does both.
  Walk& coalesceBy(uint32_t operand);

  // Whether there is at most one dimension, with stride 1 and base 0 for each operand of the mask.
  bool isPacked(uint32_t operandMask) const;
  // Whether every stride of the operand is 0: one element, read by all.
  bool isUniform(uint32_t operand) const;

  // A walk through vectors of `number` elements of the operands of the mask, whose elements along the innermost
  // dimension are neighbours; the other operands stand still along it. No value if the operands do not lie in this way.
  std::optional<Walk> inVectors(uint32_t number, uint32_t operandMask) const;

  // The same for operands that are vectors already: it steps from vector to vector. No value if an operand does not
  // begin with a vector of `number` elements.
  std::optional<Walk> betweenVectors(uint32_t number, uint32_t operandMask) const;

  // A walk for kernels/common/runs.glsl. Its runs are `number` elements that follow one another in the order of the
  // walk and in a dense operand. No value if they do not lie in vectors, or if runs cross two planes at once.
  std::optional<Walk> inRuns(uint32_t number, uint32_t operand) const;

  // The number of fours of words that it takes among the parameters.
  uint32_t vectors() const { return 1 + 2 * rank; }
};

// A walk over sizes. Operand i steps through operands[i], and stands still where that tensor has one element for many,
// or if it is null.
Walk makeWalk(std::span<const uint32_t> sizes, std::span<const Tensor* const> operands);
inline Walk makeWalk(std::span<const uint32_t> sizes, std::initializer_list<const Tensor*> operands) {
  return makeWalk(sizes, std::span(operands.begin(), operands.size()));
}

// Axes are a set of dimensions: any order, duplicates ignored, possibly empty.
inline uint32_t axisMask(std::span<const uint32_t> axes) {
  uint32_t mask = 0;
  for (const uint32_t axis : axes) mask |= 1u << axis;
  return mask;
}

// The dimensions of a walk that are not in a mask, and those that are.
struct SplitWalk {
  Walk kept;
  Walk reduced;
};
SplitWalk split(const Walk& walk, uint32_t mask);

// The elements of an input that an operator moves to an output: one element for each position of a walk from operand 0
// to operand 1.
struct MovedPart {
  uint32_t input;
  uint32_t output;
  Walk walk;
};

// The elements from the first to the last that an operand steps on; strides are taken as positive.
uint64_t spanOf(const Walk& walk, uint32_t operand);

// Appends the parameter words of a walk of up to kIndexedOperands: {base}, then for each dimension {size, multiplier,
// shift1, shift2} {strides}. The innermost dimension comes first, as kernels consume them.
void appendWalk(std::vector<uint32_t>& words, const Walk& walk);

// Workgroups folded so that no dimension exceeds the device's limit and as few as possible are idle. No value if even x
// * y * z groups are too few, or if 32 bits cannot number all of them, including idle ones, from `first` on.
std::optional<std::array<uint32_t, 3>> foldGroups(uint64_t groups, const Caps& caps, uint64_t first = 0);

// The push words that every dispatch begins with (kernels/common/grid.glsl), for groups `first` up to `end`.
std::array<uint32_t, 4> gridWords(const std::array<uint32_t, 3>& folded, uint64_t first, uint64_t end);

}  // namespace dimple
