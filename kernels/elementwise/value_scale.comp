#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: input, output, channel.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uint bias = at.z == 0u ? push.bias0 : at.z == 1u ? push.bias1 : push.bias2;
  storeRaw_y(at.y, toRaw(fromRaw(loadRaw_x(at.x)) * uintBitsToFloat(push.scale) + uintBitsToFloat(bias)));
}
