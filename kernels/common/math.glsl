// Functions that are exact or accurate whatever the device's own are.

#include "common/wide.glsl"

bool isNanBits(uint bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
bool isNan(float x) { return isNanBits(floatBitsToUint(x)); }

// Orders floats as integers, -0 below +0. Unlike a float comparison it is exact for denormals on devices that flush
// them. NaNs lie outside both infinities.
int orderKey(float x) {
  const int bits = floatBitsToInt(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float valueOfKey(int key) { return intBitsToFloat(key ^ ((key >> 31) & 0x7fffffff)); }

// Comparisons of IEEE 754, with that exactness: -0 equals +0, and NaN compares as false.
int numericKey(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0u ? 0 : orderKey(x); }
bool isLess(float a, float b) { return !isNan(a) && !isNan(b) && numericKey(a) < numericKey(b); }
bool isLessOrEqual(float a, float b) { return !isNan(a) && !isNan(b) && numericKey(a) <= numericKey(b); }

// Devices multiply by the reciprocal, which is 0 for a large divisor where denormals are flushed.
float quotient(float a, float b) {
  const float scale = abs(b) >= uintBitsToFloat(0x7e000000u) ? 0.25 : 1.0;  // 2^125
  return (a * scale) / (b * scale);
}

// x rounded toward zero to 12 bits: products of two such numbers, and of what is left of them, are exact.
float highPart(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u); }

// Whether a number lies from 2^-most to below 2^(most + 1).
bool isAmong(float x, uint most) {
  return (floatBitsToUint(x) << 1) - ((127u - most) << 24) < ((2u * most + 1u) << 24);
}

// The quotient rounded correctly, where devices' own may be off by 2.5 ULP; like theirs for |a| outside 2^-60 to 2^60
// and quotients outside 2^-40 to 2^40, where what is left may be no normal number.
float roundedQuotient(float a, float b) {
  float inverse = 1.0 / b;
  const float estimate = a * inverse;
  if (!isAmong(a, 60u) || !isAmong(estimate, 40u)) return quotient(a, b);
  // A device's own may be off by a unit in the last place.
  inverse = fma(fma(-b, inverse, 1.0), inverse, inverse);
  // Every product is exact, and every difference but for the last bits of the last one, whether a device rounds between
  // them or not.
  const float high = highPart(estimate);
  const float low = estimate - high;
  const float bHigh = highPart(b);
  const float bLow = b - bHigh;
  precise float rest = fma(-high, bHigh, a);
  rest = fma(-high, bLow, rest);
  rest = fma(-low, bHigh, rest);
  rest = fma(-low, bLow, rest);
  precise float result = fma(rest, inverse, estimate);
  return result;
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
#define ORDER(TYPE)                                                \
  TYPE minNum(TYPE a, TYPE b) { return b < a ? b : a; }            \
  TYPE maxNum(TYPE a, TYPE b) { return b > a ? b : a; }            \
  bool isLess(TYPE a, TYPE b) { return a < b; }                    \
  bool isLessOrEqual(TYPE a, TYPE b) { return a <= b; }
ORDER(int)
ORDER(uint)
#if T == i64 || T == u64
ORDER(COMPUTE)
#endif

// 2^n for n in -126..127.
float exp2Int(int n) { return uintBitsToFloat(uint(n + 127) << 23); }

// x * 2^n, |n| <= 100, by its exponent, so that compilers do not reorder it with the products around it.
float timesPowerOf2(float x, int n) {
  const uint bits = floatBitsToUint(x);
  const int exponent = int(bits >> 23 & 0xffu);
  if (exponent == 0 || exponent == 255 || exponent + n < 1 || exponent + n > 254) return x * exp2Int(n);
  return uintBitsToFloat(bits + (uint(n) << 23));
}

float withSignOf(float magnitude, float x) {
  return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7fffffffu) | (floatBitsToUint(x) & 0x80000000u));
}

// Added to a number below 2^22, it leaves the nearest integer in the last bits.
const float kRounder = 12582912.0;
// 2^n for n in -126..127, of n + kRounder.
float powerOfShifted(float shifted) { return uintBitsToFloat((floatBitsToUint(shifted) << 23) + 0x3f800000u); }

// p 2^n, of n + kRounder for |n| <= 252. In two steps, so that results near overflow and in the denormal range come out.
float scaledByShifted(float p, float shifted) {
  const int n = int(floatBitsToUint(shifted) - floatBitsToUint(kRounder));
  const int half1 = n >> 1;
  return p * exp2Int(half1) * exp2Int(n - half1);
}

// e^r - 1 for |r| <= ln 2 / 2.
float expNearZero(float r) {
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  return p * r * r + r;
}

// e^x 2^-n - 1 for the n that makes it small: Cody-Waite reduction. shifted: n + kRounder.
float expReduced(float x, out float shifted) {
  precise float sum = fma(x, 1.44269504, kRounder);
  precise float n = sum - kRounder;
  // Compilers would make one fma() of two.
  precise float r = x - n * 0.693359375;
  r = fma(n, 2.12194440e-4, r);
  shifted = sum;
  return expNearZero(r);
}

// e^x as a number near 1 and a power of 2, within 1.5 ULP for |x| <= 104.
float expScaled(float x, out int exponent) {
  float shifted;
  const float p = expReduced(x, shifted) + 1.0;
  exponent = int(floatBitsToUint(shifted) - floatBitsToUint(kRounder));
  return p;
}

float expAccurate(float x) {
  float shifted;
  const float rest = expReduced(min(max(x, -104.0), 89.0), shifted);
  const float power = scaledByShifted(rest + 1.0, shifted);
  return isNan(x) ? x : power;
}

// e^x for |x| <= 87.
float expNormal(float x) {
  float shifted;
  const float p = expReduced(x, shifted) + 1.0;
  return p * powerOfShifted(shifted);
}

// e^x for x from -infinity to 0; 0 below the smallest normal number, whose logarithm this is.
float expOfNegative(float x) { return x < -87.3365402 ? 0.0 : expNormal(x); }

// e^x - 1 for x from -infinity to 20.
float expMinus1OfNegative(float x) {
  float shifted;
  const float rest = expReduced(x, shifted);
  const float power = powerOfShifted(shifted);
  const float difference = rest * power + (power - 1.0);
  return x < -20.0 ? -1.0 : difference;
}

// e^x - 1: from 20 on e^x, of which the 1 is less than a half ULP.
float expMinus1(float x) { return x > 20.0 ? expAccurate(x) : expMinus1OfNegative(x); }

// Natural logarithm of a normal number above 0 within 2 ULP away from 1, and 2^-23 absolute near it. That of infinity
// and NaN is itself.
float logOfPositive(float x) {
  const uint least = 0x3f3504f3u;  // of the significand: the square root of a half
  const uint bits = floatBitsToUint(x) - least;
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1)
  const float f = uintBitsToFloat((bits & 0x007fffffu) + least) - 1.0;
  const float s = f / (f + 2.0);
  const float z = s * s;
  float p = 0.2222222222;
  p = p * z + 0.2857142857;
  p = p * z + 0.4;
  p = p * z + 0.6666666667;
  // log1p(f) = f - f^2/2 + correction keeps the leading term exact.
  const float hfsq = 0.5 * f * f;
  const float e = float(int(bits) >> 23);
  const float logarithm = e * 0.693359375 + (f - (hfsq - (s * (hfsq + z * p) + e * -2.12194440e-4)));
  return x < uintBitsToFloat(0x7f800000u) ? logarithm : x;
}

// `logarithm`: logOfPositive(x).
float logOf(float x, float logarithm) {
  return x == 0.0 ? uintBitsToFloat(0xff800000u) : x < 0.0 ? uintBitsToFloat(0x7fc00000u) : logarithm;
}

float logAccurate(float x) { return logOf(x, logOfPositive(x)); }

// Of at most 0.625.
float tanhNearZero(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3;
  p = p * z + 2.06390887954e-2;
  p = p * z - 5.37397155531e-2;
  p = p * z + 1.33314422036e-1;
  p = p * z - 3.33332819422e-1;
  return p * z * x + x;
}

// `power`: e^(-2 |x|) - 1.
float tanhOf(float x, float power) {
  const float y = abs(x) > 10.0 ? 1.0 : power / (2.0 + power);
  return withSignOf(y, x);
}
float tanhAccurate(float x) { return tanhOf(x, expMinus1OfNegative(-2.0 * abs(x))); }

// What the error function of x from 0.93 to 4 takes e^x of.
float erfExponent(float x) {
  const float t = abs(x);
  const float s = x * x;
  float p = -1.72853470e-5 * t + 3.83197126e-4;
  p = p * s + (-3.88396438e-3 * t + 2.42546219e-2);
  p = p * t - 1.06777877e-1;
  p = p * t - 6.34846687e-1;
  p = p * t - 1.28717512e-1;
  return p * t - t;
}
const float kErfNearZero = 0.927734375;
// A polynomial near 0, 1 - exp of a polynomial elsewhere. `power`: e^x of erfExponent(x).
float erfOf(float x, float power) {
  const float t = abs(x);
  const float s = x * x;
  float p = -5.96761703e-4;
  p = p * s + 4.99119423e-3;
  p = p * s - 2.67681349e-2;
  p = p * s + 1.12819925e-1;
  p = p * s - 3.76125336e-1;
  p = p * s + 1.28379166e-1;
  const float small = p * t + t;
  const float y = t <= kErfNearZero ? small : t >= 4.0 ? 1.0 : 1.0 - power;
  return withSignOf(y, x);
}

float erfAccurate(float x) { return erfOf(x, expNormal(erfExponent(x))); }

// 2 / pi in binary, from 32 places before its first fraction bit.
const uint kTwoOverPi[9] = uint[9](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
                                   0xfe5163abu, 0xdebbc561u);

// x - quadrant * pi / 2, within pi / 4 of 0, for every finite x; quadrant modulo 4.
float reduceQuarter(float x, out uint quadrant) {
  if (abs(x) < 8192.0) {
    const float n = roundEven(x * 0.636619772);
    quadrant = uint(int(n)) & 3u;
    precise float r = x - n * 1.5703125;
    r = r - n * 4.837512969970703125e-4;
    r = r - n * 7.549789948768648e-8;
    return r;
  }
  // Payne and Hanek: of 2 / pi only the 96 bits that matter modulo 4 are multiplied with the significand.
  const uint bits = floatBitsToUint(x) & 0x7fffffffu;
  const uint significand = (bits & 0x007fffffu) | 0x00800000u;
  const uint first = (bits >> 23) - 150u - 2u + 32u;
  const uint word = first >> 5;
  const uint shift = first & 31u;
  uvec3 window = uvec3(kTwoOverPi[word], kTwoOverPi[word + 1u], kTwoOverPi[word + 2u]);
  if (shift != 0u)
    window = (window << shift) |
             (uvec3(kTwoOverPi[word + 1u], kTwoOverPi[word + 2u], kTwoOverPi[word + 3u]) >> (32u - shift));
  const uint low = mulHigh(window.z, significand);
  const uint middle = window.y * significand + low;
  const uint carry = middle < low ? 1u : 0u;
  const uint high = window.x * significand + mulHigh(window.y, significand) + carry;
  quadrant = high >> 30;
  uint fractionHigh = (high << 2) | (middle >> 30);
  uint fractionLow = middle << 2;
  const bool above = fractionHigh >= 0x80000000u;
  if (above) {
    ++quadrant;
    fractionLow = ~fractionLow + 1u;
    fractionHigh = ~fractionHigh + (fractionLow == 0u ? 1u : 0u);
  }
  const float r = (float(fractionHigh) * exp2Int(-32) + float(fractionLow) * exp2Int(-64)) * 1.57079633;
  const bool negative = (floatBitsToUint(x) >> 31) != 0u;
  quadrant = (negative ? 4u - (quadrant & 3u) : quadrant) & 3u;
  return above != negative ? -r : r;
}

// sin(x + quarters * pi / 2) within 2 ULP or 2^-24.
float sinShifted(float x, uint quarters) {
  if (isNan(x) || (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u) return uintBitsToFloat(0x7fc00000u);
  uint quadrant;
  const float r = reduceQuarter(x, quadrant);
  quadrant += quarters;
  const float z = r * r;
  float y;
  if ((quadrant & 1u) == 0u) {
    y = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
  } else {
    y = ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z + 1.0;
  }
  return (quadrant & 2u) != 0u ? -y : y;
}
