#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// start + item * delta; integers wrap.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
#if T_BITS == 64
  const COMPUTE start = fromRaw(uvec2(push.startLow, push.startHigh));
  const COMPUTE delta = fromRaw(uvec2(push.deltaLow, push.deltaHigh));
#else
  const COMPUTE start = fromRaw(push.startLow);
  const COMPUTE delta = fromRaw(push.deltaLow);
#endif
  storeRaw_y(at.x, toRaw(start + COMPUTE(item) * delta));
}
