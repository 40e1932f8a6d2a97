// Vectors of 16 bytes as numbers, four at a time. Include after packed.glsl.
#include "common/turns.glsl"

const uint kVectorElements = 128u / T_BITS;
const uint kFours = kVectorElements / 4u;  // of elements, in a vector

#if T == f16 || CASTS
// Rounded to nearest even: a sum with 2^13 times the power of two below a number has the number's 11 leading bits last.
// Below the smallest normal number that power stays what it is there. NaN stays one.
uvec2 halvesFromFloats(vec4 v) {
  if (ROUNDED_HALVES != 0u) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
  const uvec4 bits = floatBitsToUint(v);
  const uvec4 magnitude = bits & 0x7fffffffu;
  // 2^16 becomes infinity.
  const uvec4 bounded = min(magnitude, uvec4(0x47800000u));
  const uvec4 power = max(bounded & 0x7f800000u, uvec4(0x38800000u));
  const uvec4 sum = floatBitsToUint(uintBitsToFloat(bounded) + uintBitsToFloat(power + 0x06800000u));
  uvec4 halves = (sum - (power + 0x06800000u)) + ((power - 0x38800000u) >> 13);
  halves = mix(halves, uvec4(0x7e00u), greaterThan(magnitude, uvec4(0x7f800000u)));
  halves |= (bits >> 16) & 0x8000u;
  return halves.xz | (halves.yw << 16);
}
#endif

// Four elements of a vector as numbers.
vec4 fourOf(uvec4 vector, uint four) {
#if T == f16
  const uvec2 words = four == 0u ? vector.xy : vector.zw;
  return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
#else
  return uintBitsToFloat(vector);
#endif
}

#if T == f16
uvec4 vectorOf(vec4 low, vec4 high) { return uvec4(halvesFromFloats(low), halvesFromFloats(high)); }
#define VECTOR_OF(fours, first) vectorOf(fours[first], fours[(first) + 1u])
#else
#define VECTOR_OF(fours, first) floatBitsToUint(fours[first])
#endif

// Element `at` of an operand, whose other elements need not exist.
#if T == f16
#define SINGLE(NAME, at) floatFromHalf(NAME[(at) / 8u][(at) / 2u % 4u] >> ((at) % 2u * 16u))
#else
#define SINGLE(NAME, at) uintBitsToFloat(NAME[(at) / 4u][(at) % 4u])
#endif

// Applies `function` to each of `count` fours in a loop, so that the function's code is there once. What the loop indexes
// is a copy, so that the fours themselves may stay in registers.
#define FOR_EACH_ELEMENT(fours, count, function)                                        \
  {                                                                                     \
    float copied[(count) * 4u];                                                         \
    [[unroll]] for (uint i = 0u; i < (count) * 4u; ++i) copied[i] = fours[i / 4u][i % 4u]; \
    SET_EACH(copied, (count) * 4u, function(copied[OWN_TURN]))                                \
    [[unroll]] for (uint i = 0u; i < (count) * 4u; ++i) fours[i / 4u][i % 4u] = copied[i]; \
  }
