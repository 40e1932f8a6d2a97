#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
#if T_BITS == 64
  storeRaw_y(at.x, uvec2(push.low, push.high));
#else
  storeRaw_y(at.x, push.low);
#endif
}
