// Blocks of four rows and four columns, of operands some of which are turned: their vectors lie along the columns of the
// output. The walk at parameters[0] leads from block to block. Its offsets are vectors of four elements, or elements of
// operands that stand still along rows, as uniformMask says. Steps lead to the next row in a block, or of what is turned
// to the next column. Include after grid.glsl.
#include "common/walk.glsl"
#include "common/turns.glsl"

struct Block {
  uvec4 row[4];
};

uvec4 blockPlaces(uint item) {
  const uvec4 at = walkOffsets(0u, push.rank, item);
  return uvec4(SUMMED_INDEX(at.x), SUMMED_INDEX(at.y), SUMMED_INDEX(at.z), SUMMED_INDEX(at.w));
}

Block rowsOfColumns(Block b) {
  Block rows;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) rows.row[i] = uvec4(b.row[0][i], b.row[1][i], b.row[2][i], b.row[3][i]);
  return rows;
}

#if DIMPLE_COMPACT
// One copy of what is done to a row. The next row comes first.
#define EACH_ROW [[dont_unroll]] for (uint row = 0u; row < 4u; ++row)
#define OWN_ROW 0u
void passRow(inout Block b) {
  [[unroll]] for (uint i = 0u; i < 3u; ++i) {
    const uvec4 next = b.row[i + 1u];
    b.row[i] = uvec4(turned(next.x), turned(next.y), turned(next.z), turned(next.w));
  }
}
#else
#define EACH_ROW [[unroll]] for (uint row = 0u; row < 4u; ++row)
#define OWN_ROW row
#define passRow(b)
#endif

// A vector's elements of 32 or, if T is f16, 16 bits, each in a word; and numbers as such a vector.
#if T == f16
#include "common/half_fours.glsl"
#define FOUR uvec2
uvec4 elementsOf(uvec2 vector) { return uvec4(vector & 0xffffu, vector >> 16).xzyw; }
uvec2 vectorOfFloats(vec4 v) { return halvesFromFloats(v); }
#else
#define FOUR uvec4
uvec4 elementsOf(uvec4 vector) { return vector; }
uvec4 vectorOfFloats(vec4 v) { return floatBitsToUint(v); }
#endif

// Declares `Block load_NAME(uint at, uint step1, bool isUniform, bool isTurned)`.
#define BLOCK_IN(NAME)                                                                             \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { FOUR NAME[]; }; \
  Block load_##NAME(uint at, uint step1, bool isUniform, bool isTurned) {                          \
    Block block;                                                                                   \
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {                                                    \
      const uint place = at + i * step1;                                                           \
      if (isUniform)                                                                               \
        block.row[i] = uvec4(elementsOf(NAME[place / 4u])[place % 4u]);                            \
      else                                                                                         \
        block.row[i] = elementsOf(NAME[place]);                                                    \
    }                                                                                              \
    if (isTurned) block = rowsOfColumns(block);                                                    \
    return block;                                                                                  \
  }
