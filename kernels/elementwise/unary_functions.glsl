// One expression per function. a and b are the operator's own attributes (CLIP: Min and Max), already of the tensor's
// type. Needs saturated.glsl, ATTRIBUTES, whose words they are, and OP: a constant, or a parameter that OF_OPERATOR
// declares.
#ifndef OF_OPERATOR
#define OF_OPERATOR
#endif

#if T_IS_FLOAT
float applyFunction(OF_OPERATOR OF_HALVES float x, float a, float b) {
  switch (OP) {
#include "elementwise/unary_list.glsl"
    default: break;  // DXC warns of a literal that no case has
  }
  return IN_GROUP(kExponentials, activate(PASS_HALVES OP, x, vec2(a, b)));
}
#else
// 8- and 16-bit magnitudes saturate, wider ones wrap.
#if T_BITS < 32 && T_IS_SIGNED
#define LARGEST COMPUTE((1 << (T_BITS - 1)) - 1)
#define NEGATED(x) minNum(-(x), LARGEST)
#else
#define NEGATED(x) (-(x))
#endif
COMPUTE applyFunction(OF_OPERATOR COMPUTE x, COMPUTE a, COMPUTE b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_IDENTITY:
    case DML_OPERATOR_ACTIVATION_IDENTITY: return x;
    case DML_OPERATOR_ELEMENT_WISE_BIT_NOT: return ~x;
    case DML_OPERATOR_ELEMENT_WISE_CLIP:
    case DML_OPERATOR_ELEMENT_WISE_CLIP1: return maxNum(minNum(x, b), a);
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_NOT: return x == COMPUTE(0) ? COMPUTE(1) : COMPUTE(0);
    case DML_OPERATOR_ELEMENT_WISE_SIGN: return x == COMPUTE(0) ? x : x < COMPUTE(0) ? COMPUTE(-1) : COMPUTE(1);
    case DML_OPERATOR_ELEMENT_WISE_THRESHOLD: return maxNum(x, a);
#if T_BITS <= 32
    // Its attributes are FLOAT32 for every type, and so is what it computes.
    case DML_OPERATOR_ACTIVATION_SHRINK: {
      const vec2 attributes = vec2(uintBitsToFloat(ATTRIBUTES.aLow), uintBitsToFloat(ATTRIBUTES.bLow));
      return saturated(roundBy(DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN, activate(NOT_HALVES OP, float(x), attributes)));
    }
#endif
#if T_IS_SIGNED
    case DML_OPERATOR_ELEMENT_WISE_ABS: return x < COMPUTE(0) ? NEGATED(x) : x;
    case DML_OPERATOR_ELEMENT_WISE_NEGATE: return NEGATED(x);
    case DML_OPERATOR_ACTIVATION_RELU: return maxNum(x, COMPUTE(0));
#endif
    default: break;
  }
  return x;
}
#undef NEGATED
#undef LARGEST
#endif

// Scale and bias apply to the input, in FLOAT32; integers are truncated and saturated to their type.
COMPUTE scaleAndBias(COMPUTE x, float scale, float bias) {
#if T_IS_FLOAT
  return x * scale + bias;
#elif T_BITS == 64
  return x;
#else
  return saturated(float(x) * scale + bias);
#endif
}
