#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "elementwise/binary_apply.glsl"

TENSOR_IN(a)
TENSOR_IN(b)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.z, toRaw(apply(fromRaw(loadRaw_a(at.x)), fromRaw(loadRaw_b(at.y)))));
}
