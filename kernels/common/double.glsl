// Functions of doubles, whose own in GLSL may be no more accurate than a float's. Vulkan only: SPIRV-Cross has no words
// for packDouble2x32 in HLSL.

// The square root within 1 ULP, of denormals too on devices that flush them. Neither divides nor takes a double's root.
double sqrtAccurate(double x) {
  uvec2 bits = unpackDouble2x32(x);
  const uint magnitude = bits.y & 0x7fffffffu;
  const bool isNan = magnitude > 0x7ff00000u || (magnitude == 0x7ff00000u && bits.x != 0u);
  if (isNan || (magnitude | bits.x) == 0u) return x;
  if (magnitude != bits.y) return packDouble2x32(uvec2(0u, 0x7ff80000u));
  if (magnitude == 0x7ff00000u) return x;

  int exponent = int(bits.y >> 20);
  if (exponent == 0) {
    const int shift = bits.y != 0u ? 20 - findMSB(bits.y) : 52 - findMSB(bits.x);
    bits = shift < 32 ? uvec2(bits.x << shift, (bits.y << shift) | (bits.x >> (32 - shift)))
                      : uvec2(0u, bits.x << (shift - 32));
    exponent = 1 - shift;
  }
  // x = m * 4^n with m from 1 to 4.
  const int odd = (exponent + 1) & 1;
  const int n = (exponent - 1023 - odd) / 2;
  const double m = packDouble2x32(uvec2(bits.x, (bits.y & 0x000fffffu) | (uint(1023 + odd) << 20)));

  // Newton's step for 1 / sqrt(m), then Heron's for sqrt(m), with that instead of a division.
  double r = double(inversesqrt(float(m)));
  r = r * (1.5LF - 0.5LF * m * r * r);
  precise double s = m * r;
  s = s + (m - s * s) * (0.5LF * r);
  bits = unpackDouble2x32(s);
  return packDouble2x32(uvec2(bits.x, bits.y + (uint(n) << 20)));
}
