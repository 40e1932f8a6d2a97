#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Collects scales and zero points of three tensors, an invocation a tensor, as {scale, zero point}. hasZeroPoint: a bit
// a tensor; where it is clear, the zero point is 0 and its binding any.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"

ANY_IN(aScale)
ANY_IN(aZeroPoint)
ANY_IN(bScale)
ANY_IN(bZeroPoint)
ANY_IN(yScale)
ANY_IN(yZeroPoint)
layout(set = 0, binding = BINDING_parametersOf, std430) buffer parametersOfBuffer { vec2 parametersOf[]; };

void main() {
  uint item;
  if (!gridItem(3u, item)) return;
  const uint type = item == 0u ? push.aType : item == 1u ? push.bType : push.yType;
  const uint scale = item == 0u ? aScale[0] : item == 1u ? bScale[0] : yScale[0];
  const uint zeroPoint = item == 0u ? aZeroPoint[0] : item == 1u ? bZeroPoint[0] : yZeroPoint[0];
  const bool has = (push.hasZeroPoint >> item & 1u) != 0u;
  parametersOf[item] = vec2(uintBitsToFloat(scale), has ? floatFrom(extractElement(zeroPoint, 0u, type), type) : 0.0);
}
