#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#define PUSH_FIELDS uint count; uint rank; uint hasScaleBias; uint scale; uint bias; uint aLow; uint aHigh; uint bLow; uint bHigh;
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/activation.glsl"
#include "elementwise/unary_apply.glsl"

TENSOR_IN(x, 0)
TENSOR_OUT(y, 1)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.y, toRaw(apply(fromRaw(loadRaw_x(at.x)))));
}
