// What predicates answer. Needs common/math.glsl, ATTRIBUTES, whose mode is a DML_IS_INFINITY_MODE, and OP: a constant,
// or a parameter that OF_OPERATOR declares.
#ifndef OF_OPERATOR
#define OF_OPERATOR
#endif
uint ask(OF_OPERATOR COMPUTE x, COMPUTE z) {
  bool answer = false;
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS: answer = isLessOrEqual(x, z) && isLessOrEqual(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN: answer = isLess(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL: answer = isLessOrEqual(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN: answer = isLess(x, z); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL: answer = isLessOrEqual(x, z); break;
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
