// Functions that are exact or accurate whatever the device's own are.

bool isNanBits(uint bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
bool isNan(float x) { return isNanBits(floatBitsToUint(x)); }

// Orders floats as integers, -0 below +0. Unlike a float comparison it is exact for denormals on devices that flush
// them. NaNs lie outside both infinities.
int orderKey(float x) {
  const int bits = floatBitsToInt(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

// IEEE 754-2008 minNum and maxNum: the number if one operand is NaN.
float minNum(float a, float b) {
  if (isNan(a)) return b;
  if (isNan(b)) return a;
  return orderKey(b) < orderKey(a) ? b : a;
}
float maxNum(float a, float b) {
  if (isNan(a)) return b;
  if (isNan(b)) return a;
  return orderKey(b) > orderKey(a) ? b : a;
}
#define MIN_MAX(TYPE)                                       \
  TYPE minNum(TYPE a, TYPE b) { return b < a ? b : a; } \
  TYPE maxNum(TYPE a, TYPE b) { return b > a ? b : a; }
MIN_MAX(int)
MIN_MAX(uint)
#if T == i64 || T == u64
MIN_MAX(COMPUTE)
#endif

// 2^n for n in -126..127.
float exp2Int(int n) { return uintBitsToFloat(uint(n + 127) << 23); }

// e^x within 1.5 ULP: Cody-Waite reduction to |r| <= ln 2 / 2 and a polynomial of degree 6.
float expAccurate(float x) {
  if (isNan(x)) return x;
  if (x > 89.0) return uintBitsToFloat(0x7f800000u);
  if (x < -104.0) return 0.0;
  const float n = roundEven(x * 1.44269504);
  precise float r = x - n * 0.693359375;
  r = r + n * 2.12194440e-4;
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  p = p * r * r + r + 1.0;
  // In two steps, so that results near overflow and in the denormal range come out.
  const int whole = int(n);
  const int half1 = whole / 2;
  return p * exp2Int(half1) * exp2Int(whole - half1);
}

// Natural logarithm within 2 ULP away from 1, and 2^-23 absolute near it.
float logAccurate(float x) {
  if (isNan(x) || x < 0.0) return uintBitsToFloat(0x7fc00000u);
  if (x == 0.0) return uintBitsToFloat(0xff800000u);
  uint bits = floatBitsToUint(x);
  if (bits == 0x7f800000u) return x;
  int exponent = int(bits >> 23) - 127;
  float m = uintBitsToFloat((bits & 0x007fffffu) | 0x3f800000u);
  if (m > 1.41421356) {
    m *= 0.5;
    exponent += 1;
  }
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1)
  const float f = m - 1.0;
  const float s = f / (m + 1.0);
  const float z = s * s;
  float p = 0.2222222222;
  p = p * z + 0.2857142857;
  p = p * z + 0.4;
  p = p * z + 0.6666666667;
  // log1p(f) = f - f^2/2 + correction keeps the leading term exact.
  const float hfsq = 0.5 * f * f;
  const float e = float(exponent);
  return e * 0.693359375 + (f - (hfsq - (s * (hfsq + z * p) + e * -2.12194440e-4)));
}
