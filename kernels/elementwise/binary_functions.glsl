// One expression a function of two operands. FUSED is an activation applied to the result, 0 for none.
layout(constant_id = 0) const uint OP = 0;
layout(constant_id = 1) const uint FUSED = 0;

#if T_IS_FLOAT
// Devices multiply by the reciprocal, which is 0 for a large divisor where denormals are flushed.
float quotient(float a, float b) {
  const float scale = abs(b) >= uintBitsToFloat(0x7e000000u) ? 0.25 : 1.0;  // 2^125
  return (a * scale) / (b * scale);
}

float applyFunction(float a, float b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_ADD:
    case DML_OPERATOR_ELEMENT_WISE_ADD1: return a + b;
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: return a - b;
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: return a * b;
    case DML_OPERATOR_ELEMENT_WISE_DIVIDE: return quotient(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MAX: return maxNum(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MIN: return minNum(a, b);
  }
  return 0.0;
}

float apply(float a, float b) {
  const float y = applyFunction(a, b);
  return FUSED == 0u ? y : activate(FUSED, y, vec2(uintBitsToFloat(push.p0), uintBitsToFloat(push.p1)));
}
#else
// Truncates toward zero. Division by zero and of the lowest value by -1 are undefined in GLSL: the first gives all ones
// (unsigned) or -1 and 1 (signed), the second wraps.
COMPUTE quotient(COMPUTE a, COMPUTE b) {
#if T_IS_SIGNED
  if (b == COMPUTE(0)) return a < COMPUTE(0) ? COMPUTE(1) : COMPUTE(-1);
  if (b == COMPUTE(-1)) return -a;
  return a / b;
#else
  return b == COMPUTE(0) ? ~COMPUTE(0) : a / b;
#endif
}

COMPUTE apply(COMPUTE a, COMPUTE b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_ADD: return a + b;
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: return a - b;
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: return a * b;
    case DML_OPERATOR_ELEMENT_WISE_DIVIDE: return quotient(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MAX: return maxNum(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MIN: return minNum(a, b);
  }
  return COMPUTE(0);
}
#endif
