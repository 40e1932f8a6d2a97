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
  return abs(x) < kSeriesEnd ? x + x * x * (0.5 + x * 0.166666667) : expHalf(x) - 1.0;
}

float logHalf(float x) {
  if (isNan(x) || x < 0.0) return NOT_A_NUMBER;
  // Near 1 a device's logarithm may be far from its last place.
  const float d = x - 1.0;
  if (abs(d) < kSeriesEnd) return d - d * d * (0.5 - d * (0.333333333 - d * 0.25));
  return x == 0.0 ? -INFINITY : log2(x) * kLn2;
}

// log(1 + x) for x from 0 to 1.
float logPlus1Half(float x) {
  return x < 0.03125 ? x - x * x * (0.5 - x * 0.333333333) : log2(1.0 + x) * kLn2;
}

float tanhHalf(float x) {
  if (isNan(x)) return x;
  return abs(x) < kSeriesEnd ? x * (1.0 - x * x * 0.333333333) : 1.0 - 2.0 / (1.0 + exp2(x * (2.0 * kLog2OfE)));
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

float erfHalf(float x) {
  if (isNan(x)) return x;
  const float t = abs(x);
  if (t < 0.5) {
    const float z = x * x;
    return x * (1.128366769 + z * (z * 0.103267308 - 0.375239124));
  }
  return withSignOf(1.0 - erfComplementHalf(t), x);
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
  if (isNan(x) || abs(x) > 1.0) return NOT_A_NUMBER;
  const float angle = acosPositiveHalf(abs(x));
  return x < 0.0 ? 2.0 * kHalfPi - angle : angle;
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

float coshHalf(float x) {
  if (isNan(x)) return x;
  const float power = x * kLog2OfE;
  return exp2(power - 1.0) + exp2(-power - 1.0);
}

float asinhHalf(float x) {
  if (isNan(x)) return x;
  const float t = abs(x);
  if (t < kSeriesEnd) return x * (1.0 - x * x * 0.166666667);
  return withSignOf(log2(t > 1e9 ? 2.0 * t : t + sqrt(t * t + 1.0)) * kLn2, x);
}

float acoshHalf(float x) {
  if (isNan(x) || x < 1.0) return NOT_A_NUMBER;
  return logHalf(x > 1e9 ? 2.0 * x : x + sqrt((x - 1.0) * (x + 1.0)));
}

float atanhHalf(float x) {
  const float t = abs(x);
  if (isNan(x) || t > 1.0) return NOT_A_NUMBER;
  if (t == 1.0) return withSignOf(INFINITY, x);
  return t < kSeriesEnd ? x + x * x * x * 0.333333333 : (log2(1.0 + x) - log2(1.0 - x)) * (0.5 * kLn2);
}

float atan2Half(float y, float x) {
  if (isNan(x) || isNan(y)) return NOT_A_NUMBER;
  const float ax = abs(x);
  const float ay = abs(y);
  const float larger = max(ax, ay);
  float angle = ax == ay ? 0.5 * kHalfPi : atanUnitHalf(min(ax, ay) / larger);
  if (ay > ax) angle = kHalfPi - angle;
  if (larger == 0.0) angle = 0.0;
  if ((floatBitsToUint(x) >> 31) != 0u) angle = 2.0 * kHalfPi - angle;
  return withSignOf(angle, y);
}

// Of a number above 0, accurate to a few units in the last place near 1, too.
float log2Half(float x) {
  const uint least = 0x3f3504f3u;  // of the significand: the square root of a half
  const uint bits = floatBitsToUint(x) - least;
  const float m = uintBitsToFloat((bits & 0x007fffffu) + least);
  const float s = (m - 1.0) / (m + 1.0);
  const float z = s * s;
  const float logarithm = s * (2.88539042 + z * (0.961588334 + z * 0.595780729)) + float(int(bits) >> 23);
  return x == INFINITY ? x : logarithm;
}

// Of exponents that are few halves, and numbers of which no such power is too large or too small: roots and products.
bool hasRoots(float x, float y) { return abs(y) <= 4.0 && floor(2.0 * y) == 2.0 * y && isAmong(x, 30u); }
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

float powHalf(float x, float y) {
  if (hasRoots(x, y)) return powByRoots(x, y);
  if (y == 0.0 || x == 1.0) return 1.0;
  if (isNan(x) || isNan(y)) return NOT_A_NUMBER;
  const float t = abs(x);
  float magnitude = t == 1.0 ? 1.0 : exp2(y * (t == 0.0 ? -INFINITY : log2Half(t)));
  if ((floatBitsToUint(x) >> 31) != 0u) {
    const bool whole = floor(y) == y;
    if (!whole && t != 0.0 && t != INFINITY) return NOT_A_NUMBER;
    if (whole && abs(y) < 16777216.0 && (int(y) & 1) != 0) magnitude = -magnitude;
  }
  return magnitude;
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
ROUNDED(acos, acosAccurate)
ROUNDED(cosh, coshAccurate)
ROUNDED(asinh, asinhAccurate)
ROUNDED(acosh, acoshAccurate)
ROUNDED(atanh, atanhAccurate)
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
#endif
