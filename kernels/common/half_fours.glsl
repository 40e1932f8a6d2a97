// Four numbers as FLOAT16, in the halves of words.
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
