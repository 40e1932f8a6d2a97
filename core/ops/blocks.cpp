#include "core/ops/blocks.h"

#include <bit>

namespace dimple {
namespace {

constexpr uint32_t kSide = 4;
// Neighbouring invocations read so many vectors side by side of what is turned, as far as there are as many.
constexpr uint32_t kMostRows = 8;

// Whether an operand that is dense along one dimension begins with a vector wherever it stands along the others.
bool isInVectors(const Walk& part, uint32_t operand, uint32_t dense) {
  if (part.base[operand] % kSide != 0 || part.sizes[dense] % kSide != 0) return false;
  for (uint32_t d = 0; d < part.rank; ++d) {
    const uint32_t stride = part.strides[d][operand];
    if (d == dense ? stride != 1 : stride % kSide != 0 || stride > INT32_MAX) return false;
  }
  return true;
}

// Of the operands that do not move along rows or lie in them, the dimension along which the first is dense.
std::optional<uint32_t> turnedDimension(const Walk& part, uint32_t output) {
  const uint32_t inner = part.rank - 1;
  for (uint32_t k = 0; k < output; ++k) {
    if (part.strides[inner][k] <= 1) continue;
    for (uint32_t d = 0; d < inner; ++d)
      if (part.strides[d][k] == 1) return d;
    return {};
  }
  return {};
}

}  // namespace

std::optional<Blocks> blocksOf(const Walk& part, uint32_t output) {
  if (part.rank < 2 || part.rank >= kMaxWalkRank) return {};
  const uint32_t inner = part.rank - 1;
  const auto rows = turnedDimension(part, output);
  if (!rows || !isInVectors(part, output, inner)) return {};
  Blocks blocks;
  for (uint32_t k = 0; k < output; ++k) {
    if (part.strides[inner][k] == 0) {
      blocks.standing |= 1u << k;
      continue;
    }
    const bool turned = part.strides[inner][k] != 1;
    if (turned) blocks.turned |= 1u << k;
    if (!isInVectors(part, k, turned ? *rows : inner)) return {};
  }

  const auto isStanding = [&](uint32_t k) { return (blocks.standing >> k & 1) != 0; };
  const uint32_t rowBlocks = part.sizes[*rows] / kSide;
  const uint32_t together = std::min(kMostRows, 1u << std::countr_zero(rowBlocks));
  std::array<uint32_t, kMaxOperands> byRows{};
  std::array<uint32_t, kMaxOperands> byColumns{};
  std::array<uint32_t, kMaxOperands> byRowsTogether{};
  Walk& walk = blocks.walk;
  for (uint32_t k = 0; k <= output; ++k) {
    const uint32_t number = isStanding(k) ? 1 : kSide;
    const bool turned = (blocks.turned >> k & 1) != 0;
    walk.base[k] = part.base[k] / number;
    byRows[k] = turned ? 1 : part.strides[*rows][k] * (kSide / number);
    byRowsTogether[k] = byRows[k] * together;
    byColumns[k] = turned ? part.strides[inner][k] : part.strides[inner][k] == 0 ? 0 : 1;
    blocks.steps[k] = part.strides[turned ? inner : *rows][k] / number;
  }
  for (uint32_t d = 0; d < inner; ++d) {
    if (d == *rows) continue;
    std::array<uint32_t, kMaxOperands> strides{};
    for (uint32_t k = 0; k <= output; ++k) strides[k] = part.strides[d][k] / (isStanding(k) ? 1 : kSide);
    walk.addDimension(part.sizes[d], strides);
  }
  walk.addDimension(rowBlocks / together, byRowsTogether);
  walk.addDimension(part.sizes[inner] / kSide, byColumns);
  walk.addDimension(together, byRows);
  return blocks;
}

}  // namespace dimple
