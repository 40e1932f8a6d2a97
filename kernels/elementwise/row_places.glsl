// Places of vectors of packed tensors, or with ROWS of rows of vectors: where push.rank is not 0, those of the walk at
// parameters[0], whose offsets are vectors of operands that move along its innermost dimension, and elements of those that
// stand still. Include after grid.glsl.
//   ROW_VECTORS(item)   by operand
//   STANDING(at)        the element that an operand reads for the whole vector
#if ROWS
#include "common/walk.glsl"
#include "common/turns.glsl"

uvec4 rowVectors(uint item) {
  if (push.rank == 0u) return uvec4(item);
#if DIMPLE_COMPACT
  const uvec4 at = walkOffsets(0u, push.rank, item);
#else
  uvec4 at;
  if (push.rank == 2u) {
    // Most often: rows one behind another, whose parameters are loaded at once.
    const uint row = divideBy(item, parameters[1]);
    at = parameters[0] + (item - row * parameters[1].x) * parameters[2] + row * parameters[4];
  } else {
    at = walkOffsets(0u, push.rank, item);
  }
#endif
  return uvec4(SUMMED_INDEX(at.x), SUMMED_INDEX(at.y), SUMMED_INDEX(at.z), SUMMED_INDEX(at.w));
}
#define ROW_VECTORS(item) rowVectors(item)
#define STANDING(at) (push.rank == 0u ? 0u : (at))

// An operand's vector, or one element in its place. Both are loaded, and the one that is not taken is the operand's first:
// behind a branch, a load would wait for those before.
#define STANDING_MASK(operand) (0u - (push.uniformMask >> (operand) & 1u))
uvec4 either(uint one, uvec4 vector, uint mask) { return uvec4(one & mask) | vector & ~mask; }
#define ROW_OPERAND(NAME, operand, at)                                                                          \
  either(splatWord(BITS_OF(NAME, STANDING(at) & STANDING_MASK(operand))), NAME[(at) & ~STANDING_MASK(operand)], \
         STANDING_MASK(operand))
#else
#define ROW_VECTORS(item) uvec4(item)
#define STANDING(at) 0u
#endif
