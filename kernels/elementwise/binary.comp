#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#define PUSH_FIELDS uint count; uint rank; uint uniformMask; uint aLow; uint aHigh; uint bLow; uint bHigh;
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "elementwise/binary_apply.glsl"

TENSOR_IN(a, 0)
TENSOR_IN(b, 1)
TENSOR_OUT(y, 2)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.z, toRaw(apply(fromRaw(loadRaw_a(at.x)), fromRaw(loadRaw_b(at.y)))));
}
