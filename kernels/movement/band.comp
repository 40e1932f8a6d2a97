#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Stores {low, high} on the diagonals from `begin` to before `end`. Walk operands: output, row, and a number, which
// counts the columns that a row has on these diagonals.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const int row = int(at.y);
  const int first = max(row + int(push.begin), 0);
  const int column = first + int(at.z);
  if (column >= min(row + int(push.end), int(push.columns))) return;
  const uint target = at.x + uint(column) * push.columnStep;
#if T_BITS == 64
  storeRaw_y(target, uvec2(push.low, push.high));
#else
  storeRaw_y(target, push.low);
#endif
}
