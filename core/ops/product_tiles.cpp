#include "core/ops/product_tiles.h"

#include <algorithm>

#include "core/checked.h"

namespace dimple {

uint64_t tilesOf(const Product& p, const Tile& tile) {
  return p.matrices.count() * divideUp(p.rows, tile.rows) * divideUp(p.columns, tile.columns);
}

bool isVectorizable(uint32_t number, const Walk& matrices, uint32_t operand, Dimension along, Dimension across) {
  if (along.stride != 1 || along.size % number != 0 || across.stride % number != 0) return false;
  for (uint32_t d = 0; d < matrices.rank; ++d)
    if (matrices.strides[d][operand] % number != 0) return false;
  return matrices.base[operand] % number == 0;
}

bool comesIn(uint32_t number, const Walk& matrices, uint32_t operand, Dimension a, Dimension b) {
  return isVectorizable(number, matrices, operand, a, b) || isVectorizable(number, matrices, operand, b, a);
}

uint64_t bytesInVectors(uint32_t number, const Product& p, uint32_t operand) {
  const Dimension along = operand == 0 ? rowsOfA(p) : columnsOfB(p);
  const Dimension across = operand == 0 ? depthOfA(p) : depthOfB(p);
  uint64_t elements =
      p.matrices.base[operand] + uint64_t{across.size - 1} * across.stride + alignUp(along.size, number);
  for (uint32_t d = 0; d < p.matrices.rank; ++d)
    elements += uint64_t{p.matrices.sizes[d] - 1} * p.matrices.strides[d][operand];
  return elements * byteWidth(p.type);
}

bool comesInPadded(uint32_t number, const Product& p, uint32_t operand) {
  Dimension along = operand == 0 ? rowsOfA(p) : columnsOfB(p);
  const Dimension across = operand == 0 ? depthOfA(p) : depthOfB(p);
  along.size = static_cast<uint32_t>(alignUp(along.size, number));
  return isVectorizable(number, p.matrices, operand, along, across) &&
         bytesInVectors(number, p, operand) <= p.bytes[operand];
}

uint32_t subgroupsAcross(const Target& target, const Tile& tile, const MatrixShape& shape) {
  const uint32_t subgroups = tile.invocations / target.caps.subgroupSize / tile.shares;
  uint32_t best = 0;
  uint32_t least = UINT32_MAX;
  for (uint32_t across = 1; across <= std::min(subgroups, 8u); across *= 2) {
    const uint32_t rows = tile.rows / (subgroups / across);
    const uint32_t columns = tile.columns / across;
    if (rows == 0 || columns == 0 || rows % shape.rows != 0 || columns % shape.columns != 0) continue;
    // If the depth is shared, a subgroup's sums pass through shared memory one row of matrices at a time, so short rows
    // are better.
    if (rows + columns > least || (rows + columns == least && tile.shares == 1)) continue;
    best = across;
    least = rows + columns;
  }
  return best;
}

uint64_t fewTiles(const Target& target) { return uint64_t{target.caps.workgroups} * 3 / 8; }

}  // namespace dimple
