#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Packed tensors and exponents of their type. uniformMask: bit k set where operand k is one element that every position
// reads, of rows every position of a vector.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/turns.glsl"
#include "common/packed.glsl"
#define ROWS 1
#include "elementwise/row_places.glsl"

PACKED_IN(x)
PACKED_IN(exponent)
PACKED_OUT(y)

// Scale and bias apply to exponents too.
float scaled(float x) {
  return push.hasScaleBias != 0u ? x * uintBitsToFloat(push.scale) + uintBitsToFloat(push.bias) : x;
}

uint powerOfWord(uint word, uint exponents) {
#if T == f16
  const vec2 pair = unpackHalf2x16(word);
  const vec2 powers = unpackHalf2x16(exponents);
  return halvesFromPair(
      vec2(powRounded(scaled(pair.x), scaled(powers.x)), powRounded(scaled(pair.y), scaled(powers.y))));
#else
  return toRaw(powRounded(scaled(fromRaw(word)), scaled(fromRaw(exponents))));
#endif
}

bool isUniform(uint operand) { return (push.uniformMask >> operand & 1u) != 0u; }

void main() {
  uint item;
  if (!gridItem(packedItems(push.count), item)) return;
  const uvec4 at = ROW_VECTORS(item);
  const uint words = wholeWords(push.count);
  const uint mask = tailMask(push.count);
  const uint used = min(words + (mask != 0u ? 1u : 0u) - item * 4u, 4u);
  const bool isWhole = item * 4u + 4u <= words;
  uvec4 v, e;
  if (isUniform(0u)) {
    v = uvec4(splatWord(BITS_OF(x, STANDING(at.x))));
  } else {
    LOAD_VECTOR(v, x, at.x, isWhole, used)
  }
  if (isUniform(1u)) {
    e = uvec4(splatWord(BITS_OF(exponent, STANDING(at.y))));
  } else {
    LOAD_VECTOR(e, exponent, at.y, isWhole, used)
  }
#if DIMPLE_COMPACT
  // One copy of the function.
  uvec4 result = v;
  [[dont_unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint power = powerOfWord(result.x, e.x);
    result = uvec4(turned(result.y), turned(result.z), turned(result.w), turned(power));
    e = uvec4(turned(e.y), turned(e.z), turned(e.w), 0u);
  }
#else
  const uvec4 result = uvec4(powerOfWord(v.x, e.x), powerOfWord(v.y, e.y), powerOfWord(v.z, e.z), powerOfWord(v.w, e.w));
#endif
  STORE_VECTOR(y, at.z, isWhole, used, words, mask, result)
}
