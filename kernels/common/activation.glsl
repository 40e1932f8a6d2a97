// Activation functions, for the operators of their own and fused into others. Include after functions.glsl.
// p is the operator's FLOAT attributes in order.
#include "common/halves.glsl"
#include "common/turns.glsl"

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
  const float root = exp2(abs(x) * (-0.5 * kLog2OfE));
  const float result = (max(x, 0.0) + logPlus1Half(root * root)) * factor;
  return x < -80.0 ? factor * root * root : result;
}

// factor * softplus(x).
float softplusTimes(OF_HALVES float x, float factor) {
  IF_HALVES(softplusTimesHalf(x, factor))
  if (x < -80.0) return timesSmallExp(factor, x);
  return ((x > 0.0 ? x : 0.0) + logPlus1(expOfNegative(-abs(x)))) * factor;
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
  // One copy for both signs: inlined, it is a third of the code. Many invocations need no power, and that of NaN is NaN.
  const float t = abs(x) * 0.707106781;
  float power = t;
  if (t > kErfNearZero) power = expNormal(erfExponent(t));
  const float error = erfOf(t, power);
  return x < 0.0 ? half1 * erfComplement(-x, error) : half1 + half1 * error;
}

// Compilers make a clamp of comparisons, which loses NaN.
float unitClamp(float x) { return isNan(x) ? x : x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// maxNum(x, 0.0): positive numbers and infinity are the bits from 1 to those of infinity. A device may take small ones for
// 0 where it compares numbers, and FLOAT16 holds none of these.
#if COOPERATIVE && T == f16
float positiveOrZero(float x) { return x > 0.0 ? x : 0.0; }
#else
float positiveOrZero(float x) { return floatBitsToUint(x) - 1u < 0x7f800000u ? x : 0.0; }
#endif

float activate(OF_HALVES const uint op, const float x, const vec2 p) {
  switch (op) {
#define LONG_ACTIVATION(type, value) \
  case type: return value;
#define SHORT_ACTIVATION(type, value) LONG_ACTIVATION(type, value)
#include "common/activation_list.glsl"
#undef LONG_ACTIVATION
#undef SHORT_ACTIVATION
  }
  return x;
}

// Whether an activation is much code.
bool isLongActivation(const uint op) {
  switch (op) {
#define LONG_ACTIVATION(type, value) case type:
#define SHORT_ACTIVATION(type, value)
#include "common/activation_list.glsl"
#undef LONG_ACTIVATION
#undef SHORT_ACTIVATION
    return true;
  }
  return false;
}

// activate, for an activation that is little code.
float activateShort(OF_HALVES const uint op, const float x, const vec2 p) {
  switch (op) {
#define LONG_ACTIVATION(type, value)
#define SHORT_ACTIVATION(type, value) \
  case type: return value;
#include "common/activation_list.glsl"
#undef LONG_ACTIVATION
#undef SHORT_ACTIVATION
  }
  return x;
}

// values[i] = activation(values[i]). HLSL has no constants that leave activations out, so there one copy serves all.
#if DIMPLE_HLSL
#define ACTIVATE_EACH(values, count, parameters2) \
  if (FUSED != 0u) SET_EACH(values, count, activate(FUSED, values[OWN_TURN], parameters2))
#else
#define ACTIVATE_EACH(values, count, parameters2) \
  if (FUSED != 0u)                                \
    [[unroll]] for (uint i = 0u; i < count; ++i) values[i] = activate(FUSED, values[i], parameters2);
#endif
