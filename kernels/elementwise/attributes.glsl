// A function of a group, which an includer may leave out where it knows that none of the group is called.
#ifndef IN_GROUP
#define IN_GROUP(GROUP, RESULT) RESULT
#endif
#ifndef FUNCTION
#define CASE(OPERATOR) case OPERATOR:
#define FUNCTION(GROUP, OPERATOR, RESULT) case OPERATOR: return IN_GROUP(k##GROUP, RESULT);
#endif

// The operator's own numbers, in the representation of the tensor's type (floats as FLOAT32), two words each.
COMPUTE attributeValue(uint low, uint high) {
#if T_IS_FLOAT
  return uintBitsToFloat(low);
#elif T_BITS == 64
  return fromRaw(uvec2(low, high));
#else
  return COMPUTE(low);
#endif
}
