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
