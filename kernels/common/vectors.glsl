// Elements of packed operands, 32 bytes of each an invocation, by 16-byte loads. Include after packed.glsl.
const uint kVectorElements = 256u / T_BITS;

struct Vector {
  uvec4 part[2];
};

// Declares `Vector load_NAME(uint vector, uint count, bool isUniform)`: the operand's vector of that index, of which
// `count` elements exist; or its first element in the place of all.
#define VECTORS_IN(NAME)                                                              \
  PACKED_IN(NAME)                                                                     \
  Vector load_##NAME(uint vector, uint count, bool isUniform) {                       \
    if (isUniform) return splat(FIRST_BITS(NAME));                                    \
    if (count >= kVectorElements)                                                     \
      return Vector(uvec4[2](NAME[vector * 2u], NAME[vector * 2u + 1u]));             \
    Vector loaded = Vector(uvec4[2](uvec4(0u), uvec4(0u)));                           \
    [[unroll]] for (uint word = 0u; word < 8u; ++word)                                \
      if (word * 32u < count * T_BITS)                                                \
        loaded.part[word / 4u][word % 4u] = NAME[vector * 2u + word / 4u][word % 4u]; \
    return loaded;                                                                    \
  }

#if T_BITS == 64
#define FIRST_BITS(NAME) FIRST_HALF(NAME, 0u)
Vector splat(uvec2 bits) { return Vector(uvec4[2](bits.xyxy, bits.xyxy)); }
#else
#define FIRST_BITS(NAME) NAME[0].x
Vector splat(uint bits) {
  const uvec4 words = uvec4(splatWord(bits));
  return Vector(uvec4[2](words, words));
}
#endif

// Unroll loops over `i`.
RAW elementOf(Vector v, uint i) {
#if T_BITS == 64
  return i % 2u == 0u ? v.part[i / 2u].xy : v.part[i / 2u].zw;
#else
  const uint word = i / PACKED_LANES;
  return LANE(v.part[word / 4u][word % 4u], i % PACKED_LANES);
#endif
}

// Elements from vector `vector` on, at most a vector's.
uint elementsLeft(uint count, uint vector) { return min(count - vector * kVectorElements, kVectorElements); }
