// Quotients that quantized() rounds as if they were the correctly rounded ones, for less than a division. Include after
// math.glsl.

// 1 / b, but for a few units in the last place.
float inverseOf(const float b) {
  const float root = inversesqrt(abs(b));
  return uintBitsToFloat(floatBitsToUint(root * root) ^ (floatBitsToUint(b) & 0x80000000u));
}

// A divisor as quotientByHalves() takes it: areHalves as there.
struct Divisor {
  float value;
  float inverse;
};
Divisor divisorOf(const bool areHalves, const float b) {
  const float inverse = inverseOf(b);
  return Divisor(b, areHalves ? inverse : fma(fma(-b, inverse, 1.0), inverse, inverse));
}

// a / b, as if rounded correctly where that is beside a half of up to 10 bits. Quotients of FLOAT16 (areHalves) are
// halves or far from them. All products with the nearest half, or integer, are exact, and so are the differences.
float quotientByHalves(const bool areHalves, const float a, const Divisor b) {
  precise float shifted = a * b.inverse + 6291456.0;
  precise float near = shifted - 6291456.0;
  float rest = fma(-near, areHalves ? b.value : highPart(b.value), a);
  if (!areHalves) rest = fma(-near, b.value - highPart(b.value), rest);
  return fma(rest, b.inverse, near);
}

// Sums of sizes are at most this where no intermediate result overflows or is no normal number: 2^90.
const float kMostSize = 1.2379400e27;
float sizeOf(const Divisor b) { return abs(b.value) + abs(b.inverse); }

#ifdef DIMPLE_HLSL
// The product with the inverse, but near halves. Where it is no small number, ends of the range are all that matters.
// Direct3D 12 fuses no product with a sum, so that this takes less than what Vulkan does.
float quotientToRound(const float a, const float b) {
  const float estimate = a * inverseOf(b);
  // The nearest integer.
  precise float shifted = estimate + 12582912.0;
  precise float rest = estimate - (shifted - 12582912.0);
  return abs(rest) > 0.4998 || !isAmong(b, 100u) ? roundedQuotient(a, b) : estimate;
}
#else
float quotientToRound(const float a, const float b) {
  const Divisor divisor = divisorOf(false, b);
  const float result = quotientByHalves(false, a, divisor);
  return sizeOf(divisor) + abs(result) <= kMostSize ? result : roundedQuotient(a, b);
}
#endif

// Of four pairs. Vulkan takes one branch for all; `zero` is a 0 that its compilers do not know for one, so that they do
// not unroll a loop.
uvec4 quotientsToRound(const bool areHalves, const uvec4 bitsOfA, const uvec4 bitsOfB, const uint zero) {
  const vec4 a = uintBitsToFloat(bitsOfA);
  const vec4 b = uintBitsToFloat(bitsOfB);
#ifdef DIMPLE_HLSL
  return floatBitsToUint(vec4(quotientToRound(a.x, b.x), quotientToRound(a.y, b.y), quotientToRound(a.z, b.z),
                              quotientToRound(a.w, b.w)));
#else
  vec4 results;
  float sizeOfResults = 0.0;
  float sizeOfScales = 0.0;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const Divisor divisor = divisorOf(areHalves, b[i]);
    results[i] = quotientByHalves(areHalves, a[i], divisor);
    sizeOfResults += abs(results[i]);
    sizeOfScales += sizeOf(divisor);
  }
  uvec4 bits = floatBitsToUint(results);
  if (!(sizeOfResults + sizeOfScales <= kMostSize)) {
    uvec4 restOfA = bitsOfA;
    uvec4 restOfB = bitsOfB;
    for (uint i = 0u; i < 4u + zero; ++i) {
      const uint result = floatBitsToUint(roundedQuotient(uintBitsToFloat(restOfA.x), uintBitsToFloat(restOfB.x)));
      bits = uvec4(bits.yzw, result) ^ zero;
      restOfA = restOfA.yzwx ^ zero;
      restOfB = restOfB.yzwx ^ zero;
    }
  }
  return bits;
#endif
}

// Of four numbers and one divisor, whose inverse is taken once.
uvec4 quotientsOfOne(const uvec4 bitsOfA, const Divisor b) {
  const vec4 a = uintBitsToFloat(bitsOfA);
  vec4 results;
  float size = sizeOf(b);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    results[i] = quotientByHalves(false, a[i], b);
    size += abs(results[i]);
  }
  if (!(size <= kMostSize))
    results = vec4(roundedQuotient(a.x, b.value), roundedQuotient(a.y, b.value), roundedQuotient(a.z, b.value),
                   roundedQuotient(a.w, b.value));
  return floatBitsToUint(results);
}
