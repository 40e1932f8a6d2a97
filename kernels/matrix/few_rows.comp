#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// y = activation(alpha * sum over the depth of A * B + beta * c) for matrices A of at most kMostRows rows. A workgroup
// computes 256 >> sliceBits columns; the invocations of a column share its depth among them, so that neighbouring ones
// read neighbouring elements of B: along the depth with kBDepthFirst, else along a row.
//   matrixRank   walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define WALK_STEP (1u + (push.flags >> 16u))
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"

const uint kMostRows = 8u;
shared float shares[kMostRows * 256u];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint pair = group / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint slices = 1u << push.sliceBits;
  const uint columnBits = 8u - push.sliceBits;
  const bool depthFirst = (push.flags & kBDepthFirst) != 0u;
  const uint slice = depthFirst ? lane & (slices - 1u) : lane >> columnBits;
  const uint place = depthFirst ? lane >> push.sliceBits : lane & ((1u << columnBits) - 1u);
  const uint column = ((group - pair * push.columnGroups) << columnBits) + place;
  const Column at = columnAt(column);

  float sums[kMostRows];
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) sums[row] = 0.0;
  if (column < push.columns) {
    for (uint first = slice; first < push.depth; first += 4u * slices) {
      [[unroll]] for (uint step1 = 0u; step1 < 4u; ++step1) {
        const uint k = first + step1 * slices;
        if (k < push.depth) {
          const Depth depth = depthAt(k);
          const float b = loadB(base.y + at.b + depth.b, 0u);
          [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
            if (row < push.rows) sums[row] += loadA(base.x + row * aRowStride() + depth.a, 0u) * b;
        }
      }
    }
  }
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) shares[row * 256u + lane] = sums[row];
  const uint next = depthFirst ? 1u : 1u << columnBits;
  for (uint half1 = slices / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (slice < half1) {
      [[unroll]] for (uint row = 0u; row < kMostRows; ++row) {
        sums[row] += shares[row * 256u + lane + half1 * next];
        shares[row * 256u + lane] = sums[row];
      }
    }
  }
  if (slice != 0u || column >= push.columns) return;
#if DIMPLE_HLSL
  // There is a single copy of the code that finishes a sum.
  [[dont_unroll]] for (uint row = 0u; row < push.rows; ++row)
    finish(shares[row * 256u + lane], pair, row, column, at, base);
#else
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
    if (row < push.rows) finish(sums[row], pair, row, column, at, base);
#endif
}
