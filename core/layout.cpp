#include "core/layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/checked.h"

namespace dimple {
namespace {

// Returns a stride as a signed distance. Steps that agree only modulo 2^32, such as the step from the last of 65,536
// elements that lie 65,536 apart back to the first one, would make a walk span more than its tensor.
int64_t signedStep(uint32_t stride) { return static_cast<int32_t>(stride); }

}  // namespace

Divisor makeDivisor(uint32_t divisor) {
  // l = ceil(log2(divisor)); multiplier = floor(2^32 * (2^l - divisor) / divisor) + 1
  const auto l = static_cast<uint32_t>(divisor <= 1 ? 0 : std::bit_width(divisor - 1));
  const uint64_t power = uint64_t{1} << l;
  const auto multiplier = static_cast<uint32_t>(((power - divisor) << 32) / divisor + 1);
  return {multiplier, std::min(l, 1u), l > 0 ? l - 1 : 0};
}

void appendDivisor(std::vector<uint32_t>& words, uint32_t first, uint32_t divisor) {
  const auto [multiplier, shift1, shift2] = makeDivisor(std::max(1u, divisor));
  words.insert(words.end(), {first, multiplier, shift1, shift2});
}

uint64_t Walk::count() const {
  uint64_t n = 1;
  for (uint32_t d = 0; d < rank; ++d) n *= sizes[d];
  return n;
}

void Walk::addDimension(uint32_t size, const std::array<uint32_t, kMaxOperands>& stride) {
  sizes[rank] = size;
  strides[rank] = stride;
  ++rank;
}

Walk& Walk::coalesce() {
  uint32_t kept = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (sizes[d] == 1) continue;
    const bool merges = kept > 0 && [&] {
      for (uint32_t k = 0; k < kMaxOperands; ++k)
        if (signedStep(strides[kept - 1][k]) != signedStep(strides[d][k]) * sizes[d]) return false;
      return true;
    }();
    if (merges) {
      sizes[kept - 1] *= sizes[d];
      strides[kept - 1] = strides[d];
    } else {
      sizes[kept] = sizes[d];
      strides[kept] = strides[d];
      ++kept;
    }
  }
  rank = kept;
  return *this;
}

void Walk::sortBy(uint32_t operand) {
  std::array<uint32_t, kMaxWalkRank> order{};
  std::iota(order.begin(), order.begin() + rank, 0u);
  std::stable_sort(order.begin(), order.begin() + rank,
                   [&](uint32_t a, uint32_t b) { return strides[a][operand] > strides[b][operand]; });
  const Walk old = *this;
  for (uint32_t d = 0; d < rank; ++d) {
    sizes[d] = old.sizes[order[d]];
    strides[d] = old.strides[order[d]];
  }
}

Walk& Walk::coalesceBy(uint32_t operand) {
  sortBy(operand);
  return coalesce();
}

bool Walk::isPacked(uint32_t operandMask) const {
  if (rank > 1) return false;
  for (uint32_t k = 0; k < kMaxOperands; ++k)
    if ((operandMask >> k & 1) && ((rank == 1 && strides[0][k] != 1) || base[k] != 0)) return false;
  return true;
}

bool Walk::isUniform(uint32_t operand) const {
  for (uint32_t d = 0; d < rank; ++d)
    if (strides[d][operand] != 0) return false;
  return true;
}

std::optional<Walk> Walk::inVectors(uint32_t number, uint32_t operandMask) const {
  if (rank == 0 || sizes[rank - 1] % number != 0) return {};
  const uint32_t innermost = rank - 1;
  Walk outside = *this;
  outside.sizes[innermost] /= number;
  for (uint32_t k = 0; k < kMaxOperands; ++k) {
    const bool moves = operandMask >> k & 1;
    if (strides[innermost][k] != uint32_t{moves}) return {};
    // Strides are from one vector to the next, in elements.
    if (moves) outside.strides[innermost][k] = number;
  }
  return outside.betweenVectors(number, operandMask);
}

std::optional<Walk> Walk::betweenVectors(uint32_t number, uint32_t operandMask) const {
  Walk vectors = *this;
  for (uint32_t k = 0; k < kMaxOperands; ++k) {
    if (!(operandMask >> k & 1)) continue;
    if (base[k] % number != 0) return {};
    vectors.base[k] /= number;
    for (uint32_t d = 0; d < rank; ++d) {
      // Backward steps are numbers modulo 2^32, and such numbers cannot be divided.
      if (strides[d][k] % number != 0 || strides[d][k] > INT32_MAX) return {};
      vectors.strides[d][k] /= number;
    }
  }
  return vectors;
}

std::optional<Walk> Walk::inRuns(uint32_t number, uint32_t operand) const {
  if (rank == 0 || count() % number != 0 || base[operand] % number != 0) return {};
  uint64_t dense = 1;
  for (uint32_t d = rank; d-- > 0;) {
    if (strides[d][operand] != dense) return {};
    dense *= sizes[d];
  }
  Walk runs;
  runs.base = base;
  if (rank == 1) runs.addDimension(1, {});
  for (uint32_t d = 0; d < rank; ++d) runs.addDimension(sizes[d], strides[d]);
  const uint64_t plane = uint64_t{runs.sizes[runs.rank - 1]} * runs.sizes[runs.rank - 2];
  return plane < number ? std::nullopt : std::optional(runs);
}

Walk makeWalk(std::span<const uint32_t> sizes, std::span<const Tensor* const> operands) {
  Walk walk;
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::array<uint32_t, kMaxOperands> stride{};
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k] && (operands[k]->sizes[d] != 1 || sizes[d] == 1)) stride[k] = operands[k]->strides[d];
    walk.addDimension(sizes[d], stride);
  }
  return walk;
}

SplitWalk split(const Walk& walk, uint32_t mask) {
  SplitWalk parts;
  for (uint32_t d = 0; d < walk.rank; ++d)
    (mask >> d & 1 ? parts.reduced : parts.kept).addDimension(walk.sizes[d], walk.strides[d]);
  return parts;
}

uint64_t spanOf(const Walk& walk, uint32_t operand) {
  uint64_t elements = 1;
  for (uint32_t d = 0; d < walk.rank; ++d) elements += uint64_t{walk.sizes[d] - 1} * walk.strides[d][operand];
  return elements;
}

void appendWalk(std::vector<uint32_t>& words, const Walk& walk) {
  words.insert(words.end(), walk.base.begin(), walk.base.begin() + kIndexedOperands);
  for (uint32_t d = walk.rank; d-- > 0;) {
    appendDivisor(words, walk.sizes[d]);
    words.insert(words.end(), walk.strides[d].begin(), walk.strides[d].begin() + kIndexedOperands);
  }
}

std::optional<std::array<uint32_t, 3>> foldGroups(uint64_t groups, const Caps& caps, uint64_t first) {
  const uint64_t maxX = caps.maxGroups[0];
  const uint64_t maxY = caps.maxGroups[1];
  const uint64_t z = divideUp(groups, maxX * maxY);
  if (z > caps.maxGroups[2]) return std::nullopt;
  const uint64_t y = divideUp(divideUp(groups, z), maxX);
  const uint64_t x = divideUp(divideUp(groups, z), y);
  if (first + x * y * z > uint64_t{1} << 32) return std::nullopt;
  return std::array{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

std::array<uint32_t, 4> gridWords(const std::array<uint32_t, 3>& folded, uint64_t first, uint64_t end) {
  return {folded[0], folded[0] * folded[1], static_cast<uint32_t>(end), static_cast<uint32_t>(first)};
}

}  // namespace dimple
