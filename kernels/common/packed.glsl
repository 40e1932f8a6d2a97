// Packed tensors: 16-byte loads and stores. Include after types.glsl.
//   PACKED_IN, PACKED_OUT   declare a buffer of 16-byte vectors
#define PACKED_IN(NAME) \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uvec4 NAME[]; };
#define PACKED_OUT(NAME) \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uvec4 NAME[]; };

#if T_BITS == 64
// The first element of a vector that may end with it: a swizzle would access all of the vector.
#define FIRST_HALF(NAME, vector) uvec2(NAME[vector].x, NAME[vector].y)
#else
#define PACKED_LANES (32 / T_BITS)
#define LANE(word, lane) (((word) >> ((lane) * T_BITS)) & T_MASK)
#define LANE_BITS(bits, lane) (((bits) & T_MASK) << ((lane) * T_BITS))
#endif

// Words that `count` elements fill wholly, and the mask of bits that they use in the word after.
uint wholeWords(uint count) {
#if T_BITS == 64
  return count * 2u;
#elif T_BITS == 32
  return count;
#else
  return count / PACKED_LANES;
#endif
}
uint tailMask(uint count) {
#if T_BITS >= 32
  return 0u;
#else
  return (1u << ((count % PACKED_LANES) * T_BITS)) - 1u;
#endif
}
// Items of 16 bytes, the last one possibly partial.
uint packedItems(uint count) {
  return wholeWords(count) / 4u + ((wholeWords(count) % 4u) != 0u || tailMask(count) != 0u ? 1u : 0u);
}
