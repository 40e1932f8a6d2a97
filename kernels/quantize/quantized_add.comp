#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The sum of two quantized tensors, quantized. parametersOf: {scale, zero point} of a, b and the sum, as floats.
#define PUSH_FIELDS uint count; uint rank; uint aType; uint bType; uint yType;
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"

ANY_IN(a, 0)
ANY_IN(b, 1)
layout(set = 0, binding = 2, std430) readonly buffer parametersOfBuffer { vec2 parametersOf[]; };
ANY_OUT(y, 3)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const float p = (floatFrom(loadAny_a(at.x, push.aType), push.aType) - parametersOf[0].y) * parametersOf[0].x;
  const float q = (floatFrom(loadAny_b(at.y, push.bType), push.bType) - parametersOf[1].y) * parametersOf[1].x;
  storeAny_y(at.z, push.yType, quantized(roundedQuotient(p + q, parametersOf[2].x), parametersOf[2].y, push.yType));
}
