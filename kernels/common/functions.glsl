// Logarithms, inverse and hyperbolic functions that stay accurate near their zeros and do not overflow before their
// results do. Include after math.glsl.

#define INFINITY uintBitsToFloat(0x7f800000u)
#define NOT_A_NUMBER uintBitsToFloat(0x7fc00000u)
const float kHalfPi = 1.57079633;

// log(1 + x) for x from 0 to 1.
float logPlus1(float x) {
  // 2 atanh(s)
  const float s = x / (2.0 + x);
  const float z = s * s;
  float p = 0.134305122;
  p = p * z + 0.141175233;
  p = p * z + 0.200038126;
  p = p * z + 0.333333200;
  return 2.0 * (s + s * z * p);
}

// e^(-x^2 / 2), with x in two parts, since the exponential multiplies the error of its argument.
float gaussian(float x) {
  const float high = uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u);
#ifdef ONE_EXPONENTIAL
  return exponential * expOfSmall(0.5 * (high - x) * (high + x));
#else
  return expAccurate(-0.5 * high * high) * expAccurate(0.5 * (high - x) * (high + x));
#endif
}

// 1 - erf(x / sqrt(2)) for x >= 0. `error`: erfAccurate(x / sqrt(2)).
float erfComplement(float x, float error) {
  const float z = x * 0.707106781;
  if (isNan(x) || z < 1.0) return 1.0 - error;
  if (z > 10.5) return 0.0;
  const float q = 1.0 / z;
  const float y = q * q;
  float p;
  if (z < 2.0) {
    p = 2.326819970068386e-2;
    p = p * y - 1.387039388740657e-1;
    p = p * y + 3.687424674597105e-1;
    p = p * y - 5.824733027278666e-1;
    p = p * y + 6.210004621745983e-1;
    p = p * y - 4.944515323274145e-1;
    p = p * y + 3.404879937665872e-1;
    p = p * y - 2.741127028184656e-1;
    p = p * y + 5.638259427386472e-1;
  } else {
    p = -1.047766399936249e1;
    p = p * y + 1.297719955372516e1;
    p = p * y - 7.495518717768503;
    p = p * y + 2.921019019210786;
    p = p * y - 1.015265279202700;
    p = p * y + 4.218463358204948e-1;
    p = p * y - 2.820767439740514e-1;
    p = p * y + 5.641895067754075e-1;
  }
  return gaussian(x) * q * p;
}

float tanAccurate(float x) {
  if (isNan(x) || abs(x) == INFINITY) return NOT_A_NUMBER;
  uint quadrant;
  const float r = reduceQuarter(x, quadrant);
  const float z = r * r;
  float p = 9.38540185543e-3;
  p = p * z + 3.11992232697e-3;
  p = p * z + 2.44301354525e-2;
  p = p * z + 5.34112807005e-2;
  p = p * z + 1.33387994085e-1;
  p = p * z + 3.33331568548e-1;
  const float y = p * z * r + r;
  return (quadrant & 1u) != 0u ? -1.0 / y : y;
}

float atanAccurate(float x) {
  if (isNan(x)) return x;
  float t = abs(x);
  float y = 0.0;
  if (t > 2.414213562) {
    y = kHalfPi;
    t = -1.0 / t;
  } else if (t > 0.4142135624) {
    y = 0.5 * kHalfPi;
    t = (t - 1.0) / (t + 1.0);
  }
  const float z = t * t;
  float p = 8.05374449538e-2;
  p = p * z - 1.38776856032e-1;
  p = p * z + 1.99777106478e-1;
  p = p * z - 3.33329491539e-1;
  return withSignOf(y + (p * z * t + t), x);
}

// asin(t) for t in 0..0.5.
float asinSmall(float t) {
  const float z = t * t;
  float p = 4.2163199048e-2;
  p = p * z + 2.4181311049e-2;
  p = p * z + 4.5470025998e-2;
  p = p * z + 7.4953002686e-2;
  p = p * z + 1.6666752422e-1;
  return p * z * t + t;
}

float asinAccurate(float x) {
  const float t = abs(x);
  if (isNan(x) || t > 1.0) return NOT_A_NUMBER;
  const float y = t > 0.5 ? kHalfPi - 2.0 * asinSmall(sqrt(0.5 * (1.0 - t))) : asinSmall(t);
  return withSignOf(y, x);
}

float acosAccurate(float x) {
  if (isNan(x) || abs(x) > 1.0) return NOT_A_NUMBER;
  if (x > 0.5) return 2.0 * asinSmall(sqrt(0.5 * (1.0 - x)));
  if (x < -0.5) return 2.0 * kHalfPi - 2.0 * asinSmall(sqrt(0.5 * (1.0 + x)));
  return kHalfPi - withSignOf(asinSmall(abs(x)), x);
}

float sinhAccurate(float x) {
  if (isNan(x)) return x;
  const float t = abs(x);
  if (t > 1.0) {
    // In two factors, since e^x overflows before half of it does.
    const float e = expAccurate(0.5 * t);
    return withSignOf(t > 20.0 ? timesPowerOf2(e, -1) * e : 0.5 * (e * e - 1.0 / (e * e)), x);
  }
  const float z = x * x;
  float p = 2.03721912945e-4;
  p = p * z + 8.33028376239e-3;
  p = p * z + 1.66667160211e-1;
  return p * z * x + x;
}

float coshAccurate(float x) {
  if (isNan(x)) return x;
  const float e = expAccurate(0.5 * abs(x));
  return abs(x) > 20.0 ? timesPowerOf2(e, -1) * e : 0.5 * (e * e + 1.0 / (e * e));
}

// Of half the numbers that logarithms are taken of, so that none is infinite before its logarithm is too large: roots of
// t^2 + 1 and t^2 - 1 are below t + 1, also where the squares overflow.
float asinhOperand(float t) { return 0.5 * t + min(0.5 * sqrt(t * t + 1.0), 0.5 * t + 0.5); }
float acoshOperand(float x) { return 0.5 * x + min(0.5 * sqrt((x - 1.0) * (x + 1.0)), 0.5 * x); }
float atanhOperand(float t) { return (1.0 + t) / (1.0 - t); }

float asinhAccurate(float x) {
  const float t = abs(x);
  const float z = t * t;
  float p = 2.0122003309e-2;
  p = p * z - 4.2699340972e-2;
  p = p * z + 7.4847586088e-2;
  p = p * z - 1.6666288134e-1;
  const float small = p * z * t + t;
  const float large = logOfPositive(asinhOperand(t)) + 0.693147181;
  return withSignOf(t < 0.5 ? small : large, x);
}

float acoshAccurate(float x) {
  const float z = x - 1.0;
  float p = 1.7596881071e-3;
  p = p * z - 7.5272886713e-3;
  p = p * z + 2.6454905019e-2;
  p = p * z - 1.1784741703e-1;
  p = p * z + 1.4142135263;
  const float small = p * sqrt(z);
  const float large = logOfPositive(acoshOperand(x)) + 0.693147181;
  return z < 0.0 ? NOT_A_NUMBER : z < 0.5 ? small : large;
}

float atanhAccurate(float x) {
  const float t = abs(x);
  const float z = t * t;
  float p = 1.81740078349e-1;
  p = p * z + 8.24370301058e-2;
  p = p * z + 1.46691431730e-1;
  p = p * z + 1.99782164500e-1;
  p = p * z + 3.33337300303e-1;
  const float small = p * z * t + t;
  const float large = 0.5 * logOfPositive(atanhOperand(t));
  return withSignOf(t < 0.5 ? small : t < 1.0 ? large : t == 1.0 ? INFINITY : NOT_A_NUMBER, x);
}

// The angle of the point (x, y), from -pi to pi.
float atan2Accurate(float y, float x) {
  const bool isSteep = abs(y) > abs(x);
  const float scale = abs(isSteep ? y : x) >= uintBitsToFloat(0x7e000000u) ? 0.25 : 1.0;  // 2^125, see quotient()
  const float larger = abs(isSteep ? y : x) * scale;
  const float smaller = abs(isSteep ? x : y) * scale;
  // Above tan(pi / 8), the angle from pi / 4 on.
  const bool isNear = smaller >= 0.414213562 * larger && smaller > 0.0;
  const float difference = smaller == larger ? 0.0 : smaller - larger;
  const float sum = isNear ? smaller + larger : larger;
  const float t = (isNear ? difference : smaller) / (sum < 1.17549435e-38 ? 1.0 : sum);
  const float z = t * t;
  float p = 8.05374449538e-2;
  p = p * z - 1.38776856032e-1;
  p = p * z + 1.99777106478e-1;
  p = p * z - 3.33329491539e-1;
  float angle = p * z * t + t;
  angle = isNear ? 0.5 * kHalfPi + angle : angle;
  angle = isSteep ? kHalfPi - angle : angle;
  angle = (floatBitsToUint(x) >> 31) != 0u ? 2.0 * kHalfPi - angle : angle;
  return withSignOf(angle, y);
}

// Rounding that denormals survive on devices that flush them.
float floorExact(float x) {
  const uint bits = floatBitsToUint(x);
  if ((bits & 0x7fffffffu) < 0x3f800000u) return (bits >> 31) != 0u && bits != 0x80000000u ? -1.0 : withSignOf(0.0, x);
  return floor(x);
}
float ceilExact(float x) {
  const uint bits = floatBitsToUint(x);
  if ((bits & 0x7fffffffu) < 0x3f800000u) return (bits >> 31) == 0u && bits != 0u ? 1.0 : withSignOf(0.0, x);
  return ceil(x);
}

// Of a DML_ROUNDING_MODE.
float roundBy(uint mode, float x) {
  if (isNan(x)) return x;
  const float t = abs(x);
  if (t >= 8388608.0) return x;
  if (mode == DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN) return withSignOf(roundEven(t), x);
  if (mode == DML_ROUNDING_MODE_TOWARD_ZERO) return withSignOf(floor(t), x);
  // Halves away from zero. Not floor(t + 0.5), which rounds the number below a half up.
  const float whole = floor(t);
  return withSignOf(t - whole >= 0.5 ? whole + 1.0 : whole, x);
}

// -1, 0 or 1; 0 of NaN.
float signOf(float x) {
  const uint magnitude = floatBitsToUint(x) & 0x7fffffffu;
  if (magnitude == 0u || magnitude > 0x7f800000u) return 0.0;
  return withSignOf(1.0, x);
}
