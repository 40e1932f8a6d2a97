// What a product's operands and sums are to workgroups that compute a tile each.
#pragma once

#include "core/ops/product.h"

namespace dimple {

// Rows, columns and steps of the depth that a workgroup works on at a time. No rows: one invocation per element, or few
// rows, of which an invocation takes so many steps at a time, or an invocation so many columns.
struct Tile {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t depth = 0;
  uint32_t stages = 2;                // parts of A and B in shared memory at once
  uint32_t invocations = kGroupSize;  // of a workgroup
  uint32_t shares = 1;                // of the depth, which subgroups sum apart from each other
};

uint64_t tilesOf(const Product& p, const Tile& tile);
// That leave a part of the device idle.
uint64_t fewTiles(const Target& target);

// How a tile's subgroups lie side by side, so that each has the same number of matrices and reads few of them; 0: they
// do not.
uint32_t subgroupsAcross(const Target& target, const Tile& tile, const MatrixShape& shape);

// A dimension of an operand.
struct Dimension {
  uint32_t stride;
  uint32_t size;
};

inline Dimension rowsOfA(const Product& p) { return {p.a.row, p.rows}; }
inline Dimension depthOfA(const Product& p) { return {p.a.column, p.depth}; }
inline Dimension columnsOfB(const Product& p) { return {p.b.column, p.columns}; }
inline Dimension depthOfB(const Product& p) { return {p.b.row, p.depth}; }

// Whether so many elements along a dimension always lie side by side, at a multiple of their number.
bool isVectorizable(uint32_t number, const Walk& matrices, uint32_t operand, Dimension along, Dimension across);
// The same along one of the two.
bool comesIn(uint32_t number, const Walk& matrices, uint32_t operand, Dimension a, Dimension b);
// Whether A or B comes in vectors that may reach over the end of its rows or columns.
bool comesInPadded(uint32_t number, const Product& p, uint32_t operand);
// What is read of A or B in vectors along its rows or columns, the last of which may reach over the end: what lies
// there makes only sums that are not stored.
uint64_t bytesInVectors(uint32_t number, const Product& p, uint32_t operand);

}  // namespace dimple
