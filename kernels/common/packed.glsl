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
// Of element i, with others above them.
#define BITS_OF(NAME, i) \
  (NAME[(i) / PACKED_LANES / 4u][(i) / PACKED_LANES % 4u] >> ((i) % PACKED_LANES * T_BITS))
// A word of elements that all have these bits.
uint splatWord(uint bits) {
  uint word = 0u;
  [[unroll]] for (uint lane = 0u; lane < PACKED_LANES; ++lane) word |= LANE_BITS(bits, lane);
  return word;
}
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

#if T_BITS < 64
// The last vector by component, of which only the first `used` lie in the buffer: what is loaded has one use then.
#define LOAD_VECTOR(vector, NAME, item, isWhole, used)     \
  if (isWhole) {                                           \
    vector = NAME[item];                                   \
  } else {                                                 \
    vector = uvec4(0u);                                    \
    if (used > 0u) vector.x = NAME[item].x;                \
    if (used > 1u) vector.y = NAME[item].y;                \
    if (used > 2u) vector.z = NAME[item].z;                \
    if (used > 3u) vector.w = NAME[item].w;                \
  }
// `words` are whole; of the word after them only the bits of `mask` are stored.
#define STORE_VECTOR(NAME, item, isWhole, used, words, mask, vector)                                  \
  if (isWhole) {                                                                                      \
    NAME[item] = vector;                                                                              \
  } else {                                                                                            \
    for (uint word = item * 4u; word < words; ++word) NAME[item][word & 3u] = vector[word & 3u];      \
    if (mask != 0u) NAME[item][words & 3u] = NAME[item][words & 3u] & ~mask | vector[words & 3u] & mask; \
  }
#endif
