// One e^x and one logarithm for all functions that take one, made before it is decided which function it is: HLSL inlines
// a copy for each call. The functions find them in the place of their calls, with the same bits. Include after math.glsl.
float exponential;
float logarithm;
float expOfSmall(float x) { return expAccurate(x); }
// tanhAccurate(), and -0 of -0.
float tanhOfExponential(float x) {
  if (isNan(x)) return x;
  const float t = abs(x);
  const float y = t < 0.625 ? tanhNearZero(t) : t > 10.0 ? 1.0 : 1.0 - 2.0 / (exponential + 1.0);
  return uintBitsToFloat(floatBitsToUint(y) | (floatBitsToUint(x) & 0x80000000u));
}
#define ONE_EXPONENTIAL 1
#define expAccurate(x) exponential
#define logAccurate(x) logarithm
#define tanhAccurate(x) tanhOfExponential(x)
#include "common/functions.glsl"
#include "common/activation.glsl"
#undef tanhAccurate
#undef logAccurate
#undef expAccurate
#include "common/pow.glsl"

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

float softplusExponent(float x) { return x < -80.0 ? 0.5 * x : -abs(x); }

float geluExponent(float x) {
  const float z = x * 0.707106781;
  const float high = highPart(x);
  return z <= -1.0 ? -0.5 * high * high : erfExponent(z);
}

// What `op` takes e^x of: the same as in its own function.
float exponentOf(uint op, float x, vec2 p) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_CELU: return x / p.x;
    case DML_OPERATOR_ACTIVATION_GELU: return geluExponent(x);
    case DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS: return softplusExponent(p.y * x);
    case DML_OPERATOR_ACTIVATION_SCALED_TANH: return 2.0 * abs(p.y * x);
    case DML_OPERATOR_ACTIVATION_SIGMOID: return -abs(x);
    case DML_OPERATOR_ACTIVATION_SOFTPLUS: return softplusExponent(p.x * x);
    case DML_OPERATOR_ACTIVATION_SWISH: return abs(x) < INFINITY ? softplusExponent(p.x * x) : -abs(p.x * x);
    case DML_OPERATOR_ACTIVATION_TANH:
    case DML_OPERATOR_ELEMENT_WISE_TANH: return 2.0 * abs(x);
    case DML_OPERATOR_ELEMENT_WISE_COSH:
    case DML_OPERATOR_ELEMENT_WISE_SINH: return 0.5 * abs(x);
    case DML_OPERATOR_ELEMENT_WISE_ERF: return erfExponent(x);
  }
  return x;
}

// What it takes the logarithm of.
float logarithmOf(uint op, float x) {
  const float t = abs(x);
  switch (op) {
    case DML_OPERATOR_ELEMENT_WISE_ACOSH: return x > 1e9 ? x : x + sqrt((x - 1.0) * (x + 1.0));
    case DML_OPERATOR_ELEMENT_WISE_ASINH: return t > 1e9 ? t : t + sqrt(t * t + 1.0);
    case DML_OPERATOR_ELEMENT_WISE_ATANH: return (1.0 + t) / (1.0 - t);
  }
  return x;
}

void findExponential(uint op, float x, vec2 p) {
  exponential = expAccurate(exponentOf(op, x, p));
  logarithm = logAccurate(logarithmOf(op, x));
}
