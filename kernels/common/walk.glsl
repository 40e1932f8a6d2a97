// N-dimensional strided indexing of up to four tensors at once (see core/layout.h: Walk, appendWalk).

uint mulHigh(uint a, uint b) {
#if DIMPLE_HLSL
  const uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
  const uint middle = ah * bl + ((al * bl) >> 16);
  return ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffffu)) >> 16);
#else
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
#endif
}

// n / d for the divisor of a dimension {d, multiplier, shift1, shift2}.
uint divideBy(uint n, uvec4 divisor) {
  const uint t = mulHigh(n, divisor.y);
  return (t + ((n - t) >> divisor.z)) >> divisor.w;
}

// Element offsets of the four operands at row-major position `index` of the walk stored at parameters[first].
uvec4 walkOffsets(uint first, uint rank, uint index) {
  uvec4 offsets = parameters[first];
  uint rest = index;
  for (uint d = 0u; d < rank; ++d) {
    const uvec4 dimension = parameters[first + 1u + 2u * d];
    const uvec4 strides = parameters[first + 2u + 2u * d];
    // The outermost dimension takes what is left.
    const uint quotient = d + 1u < rank ? divideBy(rest, dimension) : 0u;
    offsets += (rest - quotient * dimension.x) * strides;
    rest = quotient;
  }
  return offsets;
}
