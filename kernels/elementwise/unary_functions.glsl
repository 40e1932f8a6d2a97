// One expression a function. a and b are the operator's own attributes (CLIP: Min and Max), already of the tensor's
// type.
layout(constant_id = 0) const uint OP = 0;

#if T_IS_FLOAT
float applyFunction(float x, float a, float b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_IDENTITY: return x;
    case DML_OPERATOR_ELEMENT_WISE_ABS: return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu);
    case DML_OPERATOR_ELEMENT_WISE_NEGATE: return uintBitsToFloat(floatBitsToUint(x) ^ 0x80000000u);
    case DML_OPERATOR_ELEMENT_WISE_CLIP: return maxNum(minNum(x, b), a);
    case DML_OPERATOR_ELEMENT_WISE_EXP: return expAccurate(x);
    case DML_OPERATOR_ELEMENT_WISE_RECIP: return 1.0 / x;
    case DML_OPERATOR_ELEMENT_WISE_SQRT: return sqrt(x);
    case DML_OPERATOR_ELEMENT_WISE_SIN: return sinShifted(x, 0u);
    case DML_OPERATOR_ELEMENT_WISE_COS: return sinShifted(x, 1u);
    case DML_OPERATOR_ELEMENT_WISE_TANH: return tanhAccurate(x);
    case DML_OPERATOR_ELEMENT_WISE_ERF: return erfAccurate(x);
  }
  return activate(OP, x, vec2(a, b));
}
#else
// 8- and 16-bit magnitudes saturate, wider ones wrap.
#if T_BITS < 32 && T_IS_SIGNED
#define LARGEST COMPUTE((1 << (T_BITS - 1)) - 1)
#define NEGATED(x) minNum(-(x), LARGEST)
#else
#define NEGATED(x) (-(x))
#endif
COMPUTE applyFunction(COMPUTE x, COMPUTE a, COMPUTE b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_IDENTITY: return x;
    case DML_OPERATOR_ELEMENT_WISE_CLIP: return maxNum(minNum(x, b), a);
#if T_IS_SIGNED
    case DML_OPERATOR_ELEMENT_WISE_ABS: return x < COMPUTE(0) ? NEGATED(x) : x;
    case DML_OPERATOR_ELEMENT_WISE_NEGATE: return NEGATED(x);
    case DML_OPERATOR_ACTIVATION_RELU: return maxNum(x, COMPUTE(0));
#endif
  }
  return x;
}
#endif

// Attributes travel as two words each, in the representation of the tensor's type (floats as FLOAT32).
COMPUTE attributeValue(uint low, uint high) {
#if T_IS_FLOAT
  return uintBitsToFloat(low);
#elif T_BITS == 64
  return fromRaw(uvec2(low, high));
#else
  return COMPUTE(low);
#endif
}

// Scale and bias apply to the input, in FLOAT32; integers are truncated and saturated to their type.
COMPUTE scaleAndBias(COMPUTE x, float scale, float bias) {
#if T_IS_FLOAT
  return x * scale + bias;
#elif T_BITS == 64
  return x;
#else
  const float y = float(x) * scale + bias;
#if T_IS_SIGNED
  const int lowest = -1 - int(T_MASK >> 1);
  const int highest = int(T_MASK >> 1);
#else
  const uint lowest = 0u;
  const uint highest = T_MASK;
#endif
  if (isNan(y)) return COMPUTE(0);
  return y <= float(lowest) ? lowest : y >= float(highest) ? highest : COMPUTE(y);
#endif
}

COMPUTE apply(COMPUTE x) {
  if (push.hasScaleBias != 0u) x = scaleAndBias(x, uintBitsToFloat(push.scale), uintBitsToFloat(push.bias));
  return applyFunction(x, attributeValue(push.aLow, push.aHigh), attributeValue(push.bLow, push.bHigh));
}
