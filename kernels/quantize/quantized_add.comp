#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The sum of two quantized tensors, quantized. parametersOf: {scale, zero point} of a, b and the sum, as floats.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"

layout(set = 0, binding = BINDING_parametersOf, std430) readonly buffer parametersOfBuffer { vec2 parametersOf[]; };

uint sumOf(uint a, uint b) {
  const float p = (floatFrom(a, push.aType) - parametersOf[0].y) * parametersOf[0].x;
  const float q = (floatFrom(b, push.bType) - parametersOf[1].y) * parametersOf[1].x;
  return quantized(roundedQuotient(p + q, parametersOf[2].x), parametersOf[2].y, push.yType);
}

#ifdef VECTORS
// A walk through vectors of 16 elements.
layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { uvec4 a[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { uvec4 b[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uvec4 y[]; };

uint sumsOf(uint ofA, uint ofB) {
  uint sums = 0u;
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    sums |= (sumOf(extractElement(ofA, i, push.aType), extractElement(ofB, i, push.bType)) & 0xffu) << (i * 8u);
  return sums;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 ofA = a[at.x];
  const uvec4 ofB = b[at.y];
  y[at.z] = uvec4(sumsOf(ofA.x, ofB.x), sumsOf(ofA.y, ofB.y), sumsOf(ofA.z, ofB.z), sumsOf(ofA.w, ofB.w));
}
#else
ANY_IN(a)
ANY_IN(b)
ANY_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeAny_y(at.z, push.yType, sumOf(loadAny_a(at.x, push.aType), loadAny_b(at.y, push.bType)));
}
#endif
