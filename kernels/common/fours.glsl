// Vectors of 16 bytes as numbers, four at a time. Include after packed.glsl.
#include "common/turns.glsl"

const uint kVectorElements = 128u / T_BITS;
const uint kFours = kVectorElements / 4u;  // of elements, in a vector

#if T == f16 || CASTS
#include "common/half_fours.glsl"
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
