#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Stores {low, high} on the diagonals from `begin` to before `end`, or on all others if they stand the other way round.
// Walk operands: output, and column less row, which numbers the diagonals.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const int begin = int(push.begin);
  const int end = int(push.end);
  const int diagonal = int(at.y);
  const bool filled = end >= begin ? diagonal >= begin && diagonal < end : diagonal >= begin || diagonal < end;
  if (!filled) return;
#if T_BITS == 64
  storeRaw_y(at.x, uvec2(push.low, push.high));
#else
  storeRaw_y(at.x, push.low);
#endif
}
