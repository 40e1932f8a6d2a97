// What predicates answer. Needs common/halves.glsl, ATTRIBUTES, whose mode is a DML_IS_INFINITY_MODE, and OP: a constant,
// or a parameter that OF_OPERATOR declares.
#ifndef OF_OPERATOR
#define OF_OPERATOR
#endif
#if T_IS_FLOAT
#define OF_TYPE OF_HALVES
#define LESS(a, b) lessRounded(PASS_HALVES a, b)
#define LESS_OR_EQUAL(a, b) lessOrEqualRounded(PASS_HALVES a, b)
bool isEqual(float x, float z) {
  const uint bits = floatBitsToUint(x) ^ floatBitsToUint(z);
  return !isNan(x) && (bits == 0u || ((floatBitsToUint(x) | floatBitsToUint(z)) << 1) == 0u);
}
#else
#define OF_TYPE
#define LESS(a, b) isLess(a, b)
#define LESS_OR_EQUAL(a, b) isLessOrEqual(a, b)
bool isEqual(COMPUTE x, COMPUTE z) { return x == z; }
#endif
uint ask(OF_OPERATOR OF_TYPE COMPUTE x, COMPUTE z) {
  bool answer = false;
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS: answer = isEqual(x, z); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN: answer = LESS(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL: answer = LESS_OR_EQUAL(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN: answer = LESS(x, z); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL: answer = LESS_OR_EQUAL(x, z); break;
#if T_IS_FLOAT
    case DML_OPERATOR_ELEMENT_WISE_IS_NAN: return isNan(x) ? 1u : 0u;
    case DML_OPERATOR_ELEMENT_WISE_IS_INFINITY: {
      const uint bits = floatBitsToUint(x);
      return (bits == 0x7f800000u && ATTRIBUTES.mode != DML_IS_INFINITY_MODE_NEGATIVE) ||
                     (bits == 0xff800000u && ATTRIBUTES.mode != DML_IS_INFINITY_MODE_POSITIVE)
                 ? 1u
                 : 0u;
    }
#elif T_BITS == 64
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT: return uint(bitCount(toRaw(x).x) + bitCount(toRaw(x).y));
#else
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT: return uint(bitCount(x));
#endif
  }
  return answer ? 1u : 0u;
}
#undef OF_TYPE
#undef LESS
#undef LESS_OR_EQUAL
