// Large functions, which an includer may leave out where it knows that none is called.
#ifndef POWER
#define POWER(result) result
#define TRIGONOMETRIC(result) result
#define EXPONENTIAL(result) result
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
