#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what value_scale.comp does, for elements in vectors of 16 bytes.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/fours.glsl"

PACKED_IN(x)
PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const float bias = uintBitsToFloat(at.z == 0u ? push.bias0 : at.z == 1u ? push.bias1 : push.bias2);
  const uvec4 loaded = x[at.x];
  vec4 fours[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) fours[i] = fourOf(loaded, i) * uintBitsToFloat(push.scale) + bias;
  y[at.y] = VECTOR_OF(fours, 0u);
}
