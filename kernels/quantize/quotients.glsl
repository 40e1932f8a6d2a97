// Quotients that quantized() rounds as if they were the correctly rounded ones, for less than a division. Include after
// math.glsl.

// 1 / b, but for one or two units in the last place, or for a few of FLOAT16.
float inverseOf(const bool areHalves, const float b) {
  const float root = inversesqrt(abs(b));
  const float inverse = uintBitsToFloat(floatBitsToUint(root * root) ^ (floatBitsToUint(b) & 0x80000000u));
  return areHalves ? inverse : fma(fma(-b, inverse, 1.0), inverse, inverse);
}
vec4 inversesOf(const bool areHalves, const uvec4 bits) {
  const vec4 b = uintBitsToFloat(bits);
  return vec4(inverseOf(areHalves, b.x), inverseOf(areHalves, b.y), inverseOf(areHalves, b.z),
              inverseOf(areHalves, b.w));
}

// a / b, as if rounded correctly where that is beside a half of up to 10 bits. Quotients of FLOAT16 (areHalves) are
// halves or far from them. All products with the nearest half, or integer, are exact, and so are the differences.
float quotientByHalves(const bool areHalves, const float a, const float b, const float inverse) {
  precise float shifted = a * inverse + 6291456.0;
  precise float near = shifted - 6291456.0;
  precise float rest = fma(-near, areHalves ? b : highPart(b), a);
  if (!areHalves) rest = fma(-near, b - highPart(b), rest);
  return fma(rest, inverse, near);
}

// Sums of sizes are at most this where no intermediate result overflows or is no normal number: 2^90.
const float kMostSize = 1.2379400e27;

float quotientToRound(const float a, const float b) {
  const float inverse = inverseOf(false, b);
  float result = quotientByHalves(false, a, b, inverse);
  if (!(abs(b) + abs(inverse) + abs(result) <= kMostSize)) result = roundedQuotient(a, b);
  return result;
}

// Of four pairs, with one branch, and inversesOf() b. `zero` is a 0 that compilers do not know for one, so that they do
// not unroll a loop.
uvec4 quotientsToRound(const bool areHalves, const uvec4 bitsOfA, const uvec4 bitsOfB, const vec4 inverses,
                       const uint zero) {
  const vec4 a = uintBitsToFloat(bitsOfA);
  const vec4 b = uintBitsToFloat(bitsOfB);
  vec4 results;
  float sizeOfResults = 0.0;
  float sizeOfScales = 0.0;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    results[i] = quotientByHalves(areHalves, a[i], b[i], inverses[i]);
    sizeOfResults += abs(results[i]);
    sizeOfScales += abs(b[i]) + abs(inverses[i]);
  }
  uvec4 bits = floatBitsToUint(results);
  if (!(sizeOfResults + sizeOfScales <= kMostSize)) {
#ifdef DIMPLE_HLSL
    bits = floatBitsToUint(vec4(roundedQuotient(a.x, b.x), roundedQuotient(a.y, b.y), roundedQuotient(a.z, b.z),
                                roundedQuotient(a.w, b.w)));
#else
    uvec4 restOfA = bitsOfA;
    uvec4 restOfB = bitsOfB;
    for (uint i = 0u; i < 4u + zero; ++i) {
      const uint result = floatBitsToUint(roundedQuotient(uintBitsToFloat(restOfA.x), uintBitsToFloat(restOfB.x)));
      bits = uvec4(bits.yzw, result) ^ zero;
      restOfA = restOfA.yzwx ^ zero;
      restOfB = restOfB.yzwx ^ zero;
    }
#endif
  }
  return bits;
}
