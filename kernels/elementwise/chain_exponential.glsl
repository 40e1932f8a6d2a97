// One e^x and one logarithm for all functions that take one, made before it is decided which function it is: HLSL inlines
// a copy for each call. The functions find them in the place of their calls, with the same bits. Include after math.glsl.
float exponential;
float exponentialMinus1;
float logarithm;
float expOfSmall(float x) { return expAccurate(x); }
#define ONE_EXPONENTIAL 1
#define expAccurate(x) exponential
#define expNormal(x) exponential
#define expOfNegative(x) exponential
#define expMinus1(x) exponentialMinus1
#define expMinus1OfNegative(x) exponentialMinus1
#define logOfPositive(x) logarithm
#define logAccurate(x) logOf(x, logarithm)
#define tanhAccurate(x) tanhOf(x, exponentialMinus1)
#define erfAccurate(x) erfOf(x, exponential)
#include "common/functions.glsl"
#include "common/activation.glsl"
#undef erfAccurate
#undef tanhAccurate
#undef logAccurate
#undef logOfPositive
#undef expMinus1OfNegative
#undef expMinus1
#undef expOfNegative
#undef expNormal
#undef expAccurate
#include "common/pow.glsl"

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
    case DML_OPERATOR_ACTIVATION_SCALED_TANH: return -2.0 * abs(p.y * x);
    case DML_OPERATOR_ACTIVATION_SIGMOID: return -abs(x);
    case DML_OPERATOR_ACTIVATION_SOFTPLUS: return softplusExponent(p.x * x);
    case DML_OPERATOR_ACTIVATION_SWISH: return abs(x) < INFINITY ? softplusExponent(p.x * x) : -abs(p.x * x);
    case DML_OPERATOR_ACTIVATION_TANH:
    case DML_OPERATOR_ELEMENT_WISE_TANH: return -2.0 * abs(x);
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
    case DML_OPERATOR_ELEMENT_WISE_ACOSH: return acoshOperand(x);
    case DML_OPERATOR_ELEMENT_WISE_ASINH: return asinhOperand(t);
    case DML_OPERATOR_ELEMENT_WISE_ATANH: return atanhOperand(t);
  }
  return x;
}

void findExponential(uint op, float x, vec2 p) {
  const float exponent = exponentOf(op, x, p);
  exponential = expAccurate(exponent);
  exponentialMinus1 = expMinus1(exponent);
  logarithm = logOfPositive(logarithmOf(op, x));
}
