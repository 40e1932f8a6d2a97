// Activation functions, for the operators of their own and fused into others. Include after functions.glsl.
// p is the operator's FLOAT attributes in order.
#include "common/halves.glsl"

float sigmoid(OF_HALVES float x) {
  IF_HALVES(1.0 / (1.0 + exp2(x * -kLog2OfE)))
  const float e = expAccurate(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// factor * e^x where e^x nears the denormal range: in two factors, the product of which is scaled up.
float timesSmallExp(float factor, float x) {
  const float root = expAccurate(0.5 * x);
  return timesPowerOf2(factor * root * timesPowerOf2(root, 60), -60);
}

// factor * softplus(x), also where e^x nears the denormal range and factors make numbers of it.
float softplusTimesHalf(float x, float factor) {
  if (x < -80.0) {
    const float root = exp2(x * (0.5 * kLog2OfE));
    return factor * root * root;
  }
  return isNan(x) ? x : (max(x, 0.0) + logPlus1Half(exp2(abs(x) * -kLog2OfE))) * factor;
}

// factor * softplus(x).
float softplusTimes(OF_HALVES float x, float factor) {
  IF_HALVES(softplusTimesHalf(x, factor))
  if (x < -80.0) return timesSmallExp(factor, x);
  return (maxNum(x, 0.0) + logPlus1(expAccurate(-abs(x)))) * factor;
}

// x * sigmoid(z).
float swish(OF_HALVES float x, float z) {
  IF_HALVES(x * sigmoid(PASS_HALVES z))
  if (z < -80.0 && abs(x) < INFINITY) return timesSmallExp(x, z);
  return x * sigmoid(PASS_HALVES z);
}

float geluHalf(float x) {
  const float complement = erfComplementHalf(abs(x) * 0.707106781);
  return 0.5 * x * (x < 0.0 ? complement : 2.0 - complement);
}

float gelu(OF_HALVES float x) {
  IF_HALVES(geluHalf(x))
  const float half1 = 0.5 * x;
  // One copy for both signs: inlined, it is a third of the code.
  const float error = erfAccurate(abs(x) * 0.707106781);
  return x < 0.0 ? half1 * erfComplement(-x, error) : half1 + half1 * error;
}

// Compilers make a clamp of comparisons, which loses NaN.
float unitClamp(float x) { return isNan(x) ? x : x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// maxNum(x, 0.0): positive numbers and infinity are the bits from 1 to those of infinity.
float positiveOrZero(float x) { return floatBitsToUint(x) - 1u < 0x7f800000u ? x : 0.0; }

float activate(OF_HALVES const uint op, const float x, const vec2 p) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_CELU: return x < 0.0 ? p.x * expMinus1Rounded(PASS_HALVES x / p.x) : x;
    case DML_OPERATOR_ACTIVATION_ELU: return x < 0.0 ? p.x * expMinus1Rounded(PASS_HALVES x) : x;
    case DML_OPERATOR_ACTIVATION_GELU: return gelu(PASS_HALVES x);
    case DML_OPERATOR_ACTIVATION_HARD_SIGMOID: return unitClamp(p.x * x + p.y);
    case DML_OPERATOR_ACTIVATION_HARD_SWISH: return x * unitClamp(p.x * x + p.y);
    case DML_OPERATOR_ACTIVATION_LEAKY_RELU: return x < 0.0 ? p.x * x : x;
    case DML_OPERATOR_ACTIVATION_LINEAR: return p.x * x + p.y;
    case DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS: return softplusTimes(PASS_HALVES p.y * x, p.x);
    case DML_OPERATOR_ACTIVATION_RELU: return positiveOrZero(x);
    case DML_OPERATOR_ACTIVATION_SCALED_ELU: return p.y * (x < 0.0 ? p.x * expMinus1Rounded(PASS_HALVES x) : x);
    case DML_OPERATOR_ACTIVATION_SCALED_TANH: return p.x * tanhRounded(PASS_HALVES p.y * x);
    case DML_OPERATOR_ACTIVATION_SHRINK: return x > p.y ? x - p.x : x < -p.y ? x + p.x : isNan(x) ? x : 0.0;
    case DML_OPERATOR_ACTIVATION_SIGMOID: return isNan(x) ? x : sigmoid(PASS_HALVES x);
    case DML_OPERATOR_ACTIVATION_SOFTPLUS: return softplusTimes(PASS_HALVES p.x * x, 1.0 / p.x);
    case DML_OPERATOR_ACTIVATION_SOFTSIGN: return quotient(x, 1.0 + abs(x));
    case DML_OPERATOR_ACTIVATION_SWISH: return swish(PASS_HALVES x, p.x * x);
    case DML_OPERATOR_ACTIVATION_TANH: return tanhRounded(PASS_HALVES x);
    case DML_OPERATOR_ACTIVATION_THRESHOLDED_RELU: return isLessOrEqual(x, p.x) ? 0.0 : x;
    // Of a product or a convolution.
    case DML_OPERATOR_ELEMENT_WISE_CLIP: return clipRounded(PASS_HALVES x, p.x, p.y);
  }
  return x;
}

// Whether an activation is much code.
bool isLongActivation(const uint op) {
  switch (op) {
    case DML_OPERATOR_ACTIVATION_CELU:
    case DML_OPERATOR_ACTIVATION_ELU:
    case DML_OPERATOR_ACTIVATION_GELU:
    case DML_OPERATOR_ACTIVATION_PARAMETRIC_SOFTPLUS:
    case DML_OPERATOR_ACTIVATION_SCALED_ELU:
    case DML_OPERATOR_ACTIVATION_SCALED_TANH:
    case DML_OPERATOR_ACTIVATION_SIGMOID:
    case DML_OPERATOR_ACTIVATION_SOFTPLUS:
    case DML_OPERATOR_ACTIVATION_SWISH:
    case DML_OPERATOR_ACTIVATION_TANH: return true;
  }
  return false;
}

// values[i] = activation(values[i]). HLSL has no constants that leave activations out, so there one copy serves all.
#ifdef DIMPLE_HLSL
#define ACTIVATION_LOOP [[dont_unroll]]
#else
#define ACTIVATION_LOOP [[unroll]]
#endif
#define ACTIVATE_EACH(values, count, parameters2) \
  if (FUSED != 0u)                                \
    ACTIVATION_LOOP for (uint i = 0u; i < count; ++i) values[i] = activate(FUSED, values[i], parameters2);
