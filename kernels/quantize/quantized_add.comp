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
  precise float p = (floatFrom(a, push.aType) - parametersOf[0].y) * parametersOf[0].x;
  precise float q = (floatFrom(b, push.bType) - parametersOf[1].y) * parametersOf[1].x;
  return quantized(roundedQuotient(p + q, parametersOf[2].x), uint(int(parametersOf[2].y)), push.yType);
}

#ifdef VECTORS
// A walk through vectors of 16 elements.
layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { uvec4 a[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { uvec4 b[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uvec4 y[]; };

// Of four elements, each quotient rounded before it is rounded to an integer.
uint exactSumsOf(uint ofA, uint ofB) {
  uint sums = 0u;
  [[dont_unroll]] for (uint i = 0u; i < 4u; ++i)
    sums |= (sumOf(extractElement(ofA, i, push.aType), extractElement(ofB, i, push.bType)) & 0xffu) << (i * 8u);
  return sums;
}

bool isSigned(uint type) { return (type & kTypeSigned) != 0u; }

// A tensor whose scale is no extreme: its elements are `value(...) * scale`. Bytes become the last bits of floats of
// 2^23, the second and the fourth those above, so that a number is one difference.
struct Operand {
  uint flips;  // what makes signed bytes unsigned
  float zero;
  float scale;
};
Operand operandOf(uint tensor, uint type) {
  const float lowest = isSigned(type) ? -128.0 : 0.0;
  return Operand(isSigned(type) ? 0x80808080u : 0u, parametersOf[tensor].y - lowest, parametersOf[tensor].x);
}
vec4 numbersOf(Operand operand, uint word) {
  const uvec2 pairs = uvec2(word, word >> 16) ^ operand.flips;
  const vec2 low = uintBitsToFloat((pairs & 0xffu) | 0x4b000000u);
  const vec2 high = uintBitsToFloat((pairs & 0xff00u) | 0x4b000000u);
  const vec2 zero = 8388608.0 + operand.zero * vec2(1.0, 256.0);
  precise vec2 ofLow = (low - zero.x) * operand.scale;
  precise vec2 ofHigh = (high - zero.y) * (operand.scale * 0.00390625);
  return vec4(ofLow.x, ofHigh.x, ofLow.y, ofHigh.y);
}

// Products with the reciprocal, which is as good but near halves.
uint sumsOf(Operand ofA, Operand ofB, uint wordA, uint wordB) {
  const float lowest = (isSigned(push.yType) ? -128.0 : 0.0) - parametersOf[2].y;
  precise vec4 quotients = (numbersOf(ofA, wordA) + numbersOf(ofB, wordB)) * (1.0 / parametersOf[2].x);
  quotients = clamp(quotients, vec4(lowest), vec4(lowest + 255.0));
  // The last bits of the shifted numbers are the nearest integers, with the zero point.
  const float shift = 12582912.0 + parametersOf[2].y;
  precise vec4 shifted = quotients + shift;
  precise vec4 rests = quotients - (shifted - shift);
  if (any(greaterThan(abs(rests), vec4(0.4998)))) return exactSumsOf(wordA, wordB);
  const uvec4 bits = floatBitsToUint(shifted) & 0xffu;
  return bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 wordsA = a[at.x];
  const uvec4 wordsB = b[at.y];
  uvec4 sums;
  if (isAmong(parametersOf[0].x, 30u) && isAmong(parametersOf[1].x, 30u) && isAmong(parametersOf[2].x, 30u)) {
    const Operand ofA = operandOf(0u, push.aType);
    const Operand ofB = operandOf(1u, push.bType);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] = sumsOf(ofA, ofB, wordsA[i], wordsB[i]);
  } else {
    [[dont_unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] = exactSumsOf(wordsA[i], wordsB[i]);
  }
  y[at.z] = sums;
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
