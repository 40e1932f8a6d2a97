// Functions whose results are rounded to FLOAT16 at once, from the device's own exponentials and logarithms: off by 2^-14
// of the result at most, where an exact one may be off by 2^-12 once it is rounded. Include after functions.glsl.
//
// What ends with Rounded has as many digits as results of the type need. Whether that is FLOAT16 T alone says, unless
// NO_HALVES is defined, or where types are known at run time a parameter, HALVES, which OF_HALVES declares, PASS_HALVES
// hands on and NOT_HALVES sets to false. IF_HALVES returns a result then: nothing is left of it in kernels of other types,
// whose unrolled loops drivers may not unroll if they are longer.
#ifndef HALVES_GLSL
#define HALVES_GLSL
#ifdef OF_HALVES
#define IF_HALVES(RESULT) if (HALVES) return RESULT;
#else
#define OF_HALVES
#define PASS_HALVES
#define NOT_HALVES
#if T == f16 && !defined(NO_HALVES)
#define HALVES true
#define IF_HALVES(RESULT) if (HALVES) return RESULT;
#else
#define HALVES false
#define IF_HALVES(RESULT)
#endif
#endif

const float kLog2OfE = 1.44269504;
const float kLn2 = 0.693147181;
// Below, two or three terms of a series are as good as a difference of numbers near 1.
const float kSeriesEnd = 0.0625;

float expHalf(float x) { return isNan(x) ? x : exp2(x * kLog2OfE); }

float expMinus1Half(float x) {
  const float series = x + x * x * (0.5 + x * 0.166666667);
  return abs(x) < kSeriesEnd ? series : expHalf(x) - 1.0;
}

float logHalf(float x) {
  // Near 1 a device's logarithm may be far from its last place.
  const float d = x - 1.0;
  const float series = d - d * d * (0.5 - d * (0.333333333 - d * 0.25));
  const float logarithm = log2(x) * kLn2;
  return abs(d) < kSeriesEnd ? series : x == 0.0 ? -INFINITY : x < 0.0 ? NOT_A_NUMBER : logarithm;
}

// log(1 + x) for x from 0 to 1.
float logPlus1Half(float x) {
  const float series = x - x * x * (0.5 - x * 0.333333333);
  return x < 0.03125 ? series : log2(1.0 + x) * kLn2;
}

float tanhHalf(float x) {
  const float series = x * (1.0 - x * x * 0.333333333);
  const float quotient1 = 1.0 - 2.0 / (1.0 + exp2(x * (2.0 * kLog2OfE)));
  return abs(x) < kSeriesEnd ? series : quotient1;
}

float sinhHalf(float x) {
  const float z = x * x;
  const float series = x * (1.0 + z * (0.166666667 + z * 0.00833333333));
  const float power = x * kLog2OfE;
  const float difference = exp2(power - 1.0) - exp2(-power - 1.0);
  return abs(x) < 0.25 ? series : difference;
}

// 1 - erf(x) for x >= 0: e^(-x^2) times a polynomial of 1 / (1 + 0.51 x), fitted up to 4.3.
float erfComplementHalf(float x) {
  const float t = 1.0 / (1.0 + 0.51 * x);
  float p = -0.192691931;
  p = p * t + 0.491122020;
  p = p * t + 0.0918591802;
  p = p * t + 0.325435448;
  p = p * t + 0.284266214;
  return p * t * exp2(x * x * -kLog2OfE);
}

// 1 less the power of 2 by a polynomial that is fitted up to 3, and falls on.
float erfHalf(float x) {
  const float t = abs(x);
  float p = -0.00299601491;
  p = p * t + 0.0297970152;
  p = p * t - 0.148936724;
  p = p * t - 0.918376559;
  p = p * t - 1.62790820;
  return withSignOf(t < 0.0078125 ? t * 1.12836766 : 1.0 - exp2(p * t), x);
}

// x - n * parts * pi. Products with the first two parts of pi, of 8 and 7 bits, are exact for FLOAT16. Larger arguments
// come from a scale and have errors of their own; from 2^23 on, these are as large as the result.
float reducedHalf(float x, float n, float parts) {
  precise float r = x - n * (parts * 3.140625);
  r = r - n * (parts * 9.68933105e-4);
  r = fma(n, parts * 1.27951583e-6, r);
  return r * (abs(x) < 8388608.0 ? 1.0 : 0.0);
}

// sin(x + quarters * pi / 2), for 0 or 1 quarter.
float sinHalf(float x, uint quarters) {
  const float offset = 0.5 * float(quarters);
  precise float shifted = fma(x, 0.318309886, offset) + kRounder;
  precise float n = (shifted - kRounder) - offset;
  const float r = reducedHalf(x, n, 1.0);
  const float z = r * r;
  float p = -1.84854412e-4;
  p = p * z + 8.31181281e-3;
  p = p * z - 0.166655472;
  p = p * z + 0.999999053;
  // Odd multiples of pi turn the sign.
  return uintBitsToFloat(floatBitsToUint(p * r) ^ floatBitsToUint(shifted) << 31);
}

float tanHalf(float x) {
  precise float shifted = fma(x, 0.636619772, kRounder);
  precise float n = shifted - kRounder;
  const float r = reducedHalf(x, n, 0.5);
  const float z = r * r;
  const float sine = r * (1.00000506 - z * 0.0684707286);
  const float cosine = 1.0 - z * 0.401661841;
  const bool turned = (floatBitsToUint(shifted) & 1u) != 0u;
  return (turned ? -cosine : sine) / (turned ? sine : cosine);
}

// For t from 0 to 1.
float acosPositiveHalf(float t) {
  float p = 0.00859184190;
  p = p * t - 0.0356435882;
  p = p * t + 0.0845967379;
  p = p * t - 0.214110876;
  p = p * t + 1.57078744;
  return sqrt(1.0 - t) * p;
}

float acosHalf(float x) {
  const float angle = acosPositiveHalf(abs(x));
  return x < 0.0 ? 2.0 * kHalfPi - angle : angle;
}

// Above a half, of the angle between x and 1 instead, halved.
float asinHalf(float x) {
  const float t = abs(x);
  const float z = t > 0.5 ? 0.5 - 0.5 * t : t * t;
  const float y = sqrt(z) * (1.00003106 + z * (0.164538809 + z * 0.0959882248));
  return withSignOf(t > 0.5 ? kHalfPi - 2.0 * y : y, x);
}

// Of numbers from -1 to 1.
float atanUnitHalf(float x) {
  const float z = x * x;
  float p = 0.0238635271;
  p = p * z - 0.0919270816;
  p = p * z + 0.185216228;
  p = p * z - 0.331701042;
  p = p * z + 0.999970053;
  return p * x;
}

float atanHalf(float x) {
  const float t = abs(x);
  const float angle = atanUnitHalf(t > 1.0 ? 1.0 / t : t);
  return withSignOf(t > 1.0 ? kHalfPi - angle : angle, x);
}

float coshHalf(float x) {
  const float power = x * kLog2OfE;
  return exp2(power - 1.0) + exp2(-power - 1.0);
}

float asinhHalf(float x) {
  const float t = abs(x);
  // The root is below t + 1, also where the square overflows.
  const float power = t + min(sqrt(t * t + 1.0), t + 1.0);
  const float series = t * (1.0 - x * x * 0.166666667);
  const float logarithm = log2(power) * kLn2;
  return withSignOf(t < kSeriesEnd ? series : logarithm, x);
}

// Of 1 and the next number the result is 0 and 0.044.
float acoshHalf(float x) {
  const float result = log2(x + min(sqrt(x * x - 1.0), x)) * kLn2;
  return x < 1.0 ? NOT_A_NUMBER : result;
}

float atanhHalf(float x) {
  const float t = abs(x);
  const float series = t + t * t * t * 0.333333333;
  const float logarithm = (log2(1.0 + t) - log2(1.0 - t)) * (0.5 * kLn2);
  return withSignOf(t < kSeriesEnd ? series : t < 1.0 ? logarithm : t == 1.0 ? INFINITY : NOT_A_NUMBER, x);
}

float atan2Half(float y, float x) {
  const float ax = abs(x);
  const float ay = abs(y);
  const float larger = max(ax, ay);
  // 0 and infinity have quotients of their own.
  const float equal1 = larger == 0.0 ? 0.0 : 1.0;
  float angle = atanUnitHalf(ax == ay ? equal1 : min(ax, ay) / larger);
  angle = ay > ax ? kHalfPi - angle : angle;
  angle = (floatBitsToUint(x) >> 31) != 0u ? 2.0 * kHalfPi - angle : angle;
  return isNan(x) || isNan(y) ? NOT_A_NUMBER : withSignOf(angle, y);
}

// Of a normal number above 0, accurate to a few units in the last place near 1, too.
float log2Half(float x) {
  const uint least = 0x3f3504f3u;  // of the significand: the square root of a half
  const uint bits = floatBitsToUint(x) - least;
  const float m = uintBitsToFloat((bits & 0x007fffffu) + least);
  const float s = (m - 1.0) / (m + 1.0);
  const float z = s * s;
  return s * (2.88539042 + z * (0.961588334 + z * 0.595780729)) + float(int(bits) >> 23);
}

// Of exponents that are few halves, and numbers of which no such power is too large or too small: roots and products.
bool hasRoots(float x, float y) {
  return abs(y) >= 0.5 && abs(y) <= 4.0 && floor(2.0 * y) == 2.0 * y && isAmong(x, 30u);
}
float powByRoots(float x, float y) {
  const uint twice = uint(abs(y) * 2.0);
  const float t = abs(x);
  const float squared = t * t;
  float power = (twice & 1u) != 0u ? sqrt(t) : 1.0;
  if ((twice & 2u) != 0u) power *= t;
  if ((twice & 4u) != 0u) power *= squared;
  if ((twice & 8u) != 0u) power *= squared * squared;
  if (y < 0.0) power = 1.0 / power;
  if (x > 0.0) return power;
  return (twice & 1u) != 0u ? NOT_A_NUMBER : (twice & 2u) != 0u ? -power : power;
}

bool isPositiveNormal(float x) { return floatBitsToUint(x) - 0x00800000u < 0x7f000000u; }

// x^y where x or y is 0, negative, infinite or NaN. A denormal x is taken for 0. A denormal y is not 0, whatever the device
// takes it for. `power`: |x|^y of other numbers.
float powOfSpecial(float x, float y, float power) {
  const uint twiceY = floatBitsToUint(y) << 1;  // without the sign
  if (twiceY == 0u || x == 1.0) return 1.0;
  if (isNan(x) || isNan(y)) return NOT_A_NUMBER;
  const float t = abs(x);
  const bool isZero = floatBitsToUint(t) < 0x00800000u;
  float magnitude = power;
  if (isZero || t == INFINITY) magnitude = isZero == ((floatBitsToUint(y) >> 31) != 0u) ? INFINITY : 0.0;
  if (abs(y) == INFINITY) magnitude = t == 1.0 ? 1.0 : (t > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  if ((floatBitsToUint(x) >> 31) == 0u) return magnitude;
  const bool whole = twiceY >= 0x01000000u && floor(y) == y;
  if (!whole && floatBitsToUint(t) != 0u && t != INFINITY) return NOT_A_NUMBER;
  return whole && abs(y) < 16777216.0 && (int(y) & 1) != 0 ? -magnitude : magnitude;
}

float powHalf(float x, float y) {
  if (hasRoots(x, y)) return powByRoots(x, y);
  const float power = exp2(y * log2Half(abs(x)));
  return isPositiveNormal(x) && abs(y) < INFINITY ? power : powOfSpecial(x, y, power);
}

// minNum, then maxNum with the bounds, bit for bit: numbers of FLOAT16 are compared as they are, since none is a denormal
// here, but 0, which lies above -0.
float clipHalf(float x, float least, float most) {
  const float small = 7.88860905e-31;
  const bool leastIsZero = floatBitsToUint(least) == 0u;
  const bool mostIsMinusZero = floatBitsToUint(most) == 0x80000000u;
  const float upTo = isNan(most) ? INFINITY : mostIsMinusZero ? -small : most;
  const float from = isNan(least) ? -INFINITY : leastIsZero ? small : least;
  const float bounded = x <= upTo ? x : most;
  return bounded >= from ? bounded : least;
}

bool lessHalf(float a, float b) { return !isNan(a) && !isNan(b) && a < b; }
bool lessOrEqualHalf(float a, float b) { return !isNan(a) && !isNan(b) && a <= b; }

#define ROUNDED(NAME, ACCURATE) \
  float NAME##Rounded(OF_HALVES float x) {   \
    IF_HALVES(NAME##Half(x))                 \
    return ACCURATE(x);                      \
  }
ROUNDED(exp, expAccurate)
ROUNDED(expMinus1, expMinus1)
ROUNDED(log, logAccurate)
ROUNDED(tanh, tanhAccurate)
ROUNDED(erf, erfAccurate)
ROUNDED(tan, tanAccurate)
ROUNDED(asin, asinAccurate)
ROUNDED(acos, acosAccurate)
ROUNDED(atan, atanAccurate)
ROUNDED(sinh, sinhAccurate)
ROUNDED(cosh, coshAccurate)
ROUNDED(asinh, asinhAccurate)
ROUNDED(acosh, acoshAccurate)
ROUNDED(atanh, atanhAccurate)
float expMinus1OfNegativeRounded(OF_HALVES float x) {
  IF_HALVES(expMinus1Half(x))
  return expMinus1OfNegative(x);
}
float sinRounded(OF_HALVES float x, const uint quarters) {
  IF_HALVES(sinHalf(x, quarters))
  return sinShifted(x, quarters);
}
float atan2Rounded(OF_HALVES float y, float x) {
  IF_HALVES(atan2Half(y, x))
  return atan2Accurate(y, x);
}
bool lessRounded(OF_HALVES float a, float b) {
  IF_HALVES(lessHalf(a, b))
  return isLess(a, b);
}
bool lessOrEqualRounded(OF_HALVES float a, float b) {
  IF_HALVES(lessOrEqualHalf(a, b))
  return isLessOrEqual(a, b);
}
float clipRounded(OF_HALVES float x, float least, float most) {
  IF_HALVES(clipHalf(x, least, most))
  return maxNum(minNum(x, most), least);
}
float thresholdRounded(OF_HALVES float x, float least) {
  IF_HALVES(clipHalf(x, least, NOT_A_NUMBER))
  return maxNum(x, least);
}
#endif
