#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The sum of two quantized tensors, quantized. parametersOf: {scale, zero point} of a, b and the sum, as floats.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"

ANY_IN(a)
ANY_IN(b)
layout(set = 0, binding = BINDING_parametersOf, std430) readonly buffer parametersOfBuffer { vec2 parametersOf[]; };
ANY_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const float p = (floatFrom(loadAny_a(at.x, push.aType), push.aType) - parametersOf[0].y) * parametersOf[0].x;
  const float q = (floatFrom(loadAny_b(at.y, push.bType), push.bType) - parametersOf[1].y) * parametersOf[1].x;
  storeAny_y(at.z, push.yType, quantized(roundedQuotient(p + q, parametersOf[2].x), parametersOf[2].y, push.yType));
}
