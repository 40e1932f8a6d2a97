// Takes the place of copy.b64 (kernels/movement/copy.comp) in a test: the square root of what that copies.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

#include "common/double.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.y, unpackDouble2x32(sqrtAccurate(packDouble2x32(loadRaw_x(at.x)))));
}
