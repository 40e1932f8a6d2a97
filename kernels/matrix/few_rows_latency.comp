#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// few_rows_vector.comp for products of FLOAT32 whose time is latency, in as little code as possible: NVIDIA's compiler
// takes 0.04 instead of 0.42 s. A workgroup computes ROWS rows; those behind the last are computed as it is, and not
// stored. An invocation multiplies four steps of the depth and four columns at a time.
//   sliceBits     at least 3, so that invocations are enough to add all shares at once
//   DEPTH_FIRST   B's elements lie side by side along the depth, and not along a row
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define WALK_STEP (1u + (push.flags >> 16u))
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"

shared vec4 shares[ROWS * 256u];  // [row][slice][place]

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  // Blocks of rows of the same columns run side by side.
  const uint blocks = (push.rows + ROWS - 1u) / ROWS;
  const uint columnGroup = group / blocks;
  const uint firstRow = (group - columnGroup * blocks) * ROWS;
  const uint pair = columnGroup / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint placeBits = 8u - push.sliceBits;
  const bool depthFirst = DEPTH_FIRST != 0u;
  // Neighbours read what lies side by side.
  const uint slice = depthFirst ? lane & ((1u << push.sliceBits) - 1u) : lane >> placeBits;
  const uint place = depthFirst ? lane >> push.sliceBits : lane & ((1u << placeBits) - 1u);
  const uint firstColumn = (columnGroup - pair * push.columnGroups) << (placeBits + 2u);
  const uint column = firstColumn + place * 4u;

  vec4 sums[ROWS];
  [[unroll]] for (uint row = 0u; row < ROWS; ++row) sums[row] = vec4(0.0);
  const uint end = column < push.columns ? push.depth : 0u;
  for (uint k = slice * 4u; k < end; k += 4u << push.sliceBits) {
    vec4 ofB[4];
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      const uint at = depthFirst ? columnAt(min(column + i, push.columns - 1u)).b + depthAt(k).b
                                 : columnAt(column).b + depthAt(k + i).b;
      ofB[i] = floatsOf(b[(base.y + at) / 4u], 0u);
    }
    vec4 ofA[ROWS];
    [[unroll]] for (uint row = 0u; row < ROWS; ++row) {
      const uint at = min(firstRow + row, push.rows - 1u) * aRowStride() + depthAt(k).a;
      ofA[row] = floatsOf(a[(base.x + at) / 4u], 0u);
    }
    [[unroll]] for (uint row = 0u; row < ROWS; ++row)
      [[unroll]] for (uint i = 0u; i < 4u; ++i)
        [[unroll]] for (uint e = 0u; e < 4u; ++e)
          if (depthFirst)
            sums[row][i] += ofA[row][e] * ofB[i][e];
          else
            sums[row][e] += ofA[row][i] * ofB[i][e];
  }
  [[unroll]] for (uint row = 0u; row < ROWS; ++row) shares[row * 256u + (slice << placeBits) + place] = sums[row];

  // Eight slices become one at a time.
  for (uint bits = push.sliceBits; bits > 0u;) {
    const uint less = min(bits, 3u);
    bits -= less;
    barrier();
    const uint nextBits = bits + placeBits;
    if (lane < ROWS << nextBits) {
      const uint first = (lane >> nextBits) * 256u + (lane & ((1u << nextBits) - 1u));
      vec4 sum = shares[first];
      for (uint s = 1u; s < 1u << less; ++s) sum += shares[first + (s << nextBits)];
      shares[first] = sum;
    }
  }
  barrier();
  for (uint i = lane; i < ROWS << (placeBits + 2u); i += 256u + hiddenZero()) {
    const uint row = i >> (placeBits + 2u);
    const uint at = i & ((4u << placeBits) - 1u);
    const uint resultColumn = firstColumn + at;
    if (firstRow + row >= push.rows || resultColumn >= push.columns) continue;
    const float sum = shares[row * 256u + at / 4u][at % 4u];
    finish(sum, pair, firstRow + row, resultColumn, columnAt(resultColumn), base);
  }
}
