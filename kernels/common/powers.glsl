// Exponentials of four numbers. Include after types.glsl.

// e^x for x from -infinity to 0; 0 below the smallest normal number. Results that are rounded to FLOAT16 may be off by
// what the device's own function is.
#if T == f16
vec4 powersOf(vec4 v) { return exp2(v * 1.44269504); }
#else
vec4 powersOf(vec4 v) {
  // The sum's last bits are the nearest integer.
  const vec4 shifted = fma(v, vec4(1.44269504), vec4(12582912.0));
  precise vec4 whole = shifted - 12582912.0;
  // The first product is exact.
  vec4 r = fma(whole, vec4(-0.693359375), v);
  r = fma(whole, vec4(2.12194440e-4), r);
  vec4 p = vec4(1.9875691500e-4);
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  p = p * (r * r) + r + 1.0;
  const uvec4 power = floatBitsToUint(p) + (floatBitsToUint(shifted) << 23);
  // The logarithm of 2^-126.
  return mix(uintBitsToFloat(power), vec4(0.0), lessThan(v, vec4(-87.336540)));
}
#endif
