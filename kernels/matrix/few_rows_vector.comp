#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// few_rows.comp where VECTOR (4 or 8) elements of A lie side by side along the depth, and as many of B along it
// (kBDepthFirst) or along a row. An invocation takes VECTOR steps of the depth at a time, of COLUMNS neighbours or else
// of VECTOR ones.
//   matrixRank   walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define WALK_STEP (1u + (push.flags >> 16u))
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"

// ROWS: of a workgroup, a power of 2; those behind the last are computed as it is, and not stored. So that loads
// overlap they have no conditions: steps behind the depth, too, load the last ones.

// Vectors of B are loaded before they are used, so many at a time along the depth and across it. Sizes of arrays are
// known when HLSL is compiled.
#define COLUMNS (ROWS == 2u ? 2u : 4u)
#if DIMPLE_HLSL
#define MOST_ROWS (VECTOR == 8 ? 2u : 8u)
#define MOST_COLUMNS 4u
#define LOADS_ALONG 8u
#else
#define MOST_ROWS ROWS
#define MOST_COLUMNS COLUMNS
#define LOADS_ALONG (ROWS == 1u ? 16u : 8u)
#endif
const uint kLoadsAcross = 8u;
const uint kFours = VECTOR / 4u;  // of a vector
// A's one vector, loaded ahead of eight of B, would delay those.
#define LOADS_A_FIRST (ROWS > 1u || VECTOR == 4u)
shared vec4 shares[kFours * 256u];

uint rowOfA(uint row) { return min(row, push.rows - 1u) * aRowStride(); }

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  // Blocks of rows of the same columns run side by side, so that B is read from memory once.
  uint columnGroup = group;
  uint firstRow = 0u;
  if (push.rows > ROWS) {
    const uint blocks = (push.rows + ROWS - 1u) / ROWS;
    columnGroup = group / blocks;
    firstRow = (group - columnGroup * blocks) * ROWS;
  }
  const uint pair = columnGroup / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint slices = 1u << push.sliceBits;
  const uint placeBits = 8u - push.sliceBits;
  const bool depthFirst = (push.flags & kBDepthFirst) != 0u;
  const uint columnBits = uint(findMSB(depthFirst ? COLUMNS : VECTOR));  // of a place's columns
  const uint slice = depthFirst ? lane & (slices - 1u) : lane >> placeBits;
  const uint firstPlace = (columnGroup - pair * push.columnGroups) << placeBits;
  const uint place = firstPlace + (depthFirst ? lane >> push.sliceBits : lane & ((1u << placeBits) - 1u));
  const uint column = place << columnBits;
  const uint step1 = VECTOR * slices;
  const uint last = push.depth - VECTOR;

  float sums[MOST_ROWS * VECTOR];
  [[unroll]] for (uint i = 0u; i < MOST_ROWS * VECTOR; ++i) sums[i] = 0.0;
  if (column < push.columns && depthFirst) {
    uint columnB[MOST_COLUMNS];
    [[unroll]] for (uint i = 0u; i < MOST_COLUMNS; ++i)
      columnB[i] = base.y + columnAt(min(column + i, push.columns - 1u)).b;
    const uint kSteps = LOADS_ALONG / MOST_COLUMNS;
    for (uint first = slice * VECTOR; first < push.depth; first += kSteps * step1) {
      ELEMENTS ofB[LOADS_ALONG];
      [[unroll]] for (uint i = 0u; i < LOADS_ALONG; ++i)
        ofB[i] = b[(columnB[i % MOST_COLUMNS] + depthAt(min(first + i / MOST_COLUMNS * step1, last)).b) / VECTOR];
      [[unroll]] for (uint s = 0u; s < kSteps; ++s) {
        const uint k = first + s * step1;
        ELEMENTS ofA[MOST_ROWS];
        [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
          if (row < ROWS) ofA[row] = a[(base.x + rowOfA(firstRow + row) + depthAt(min(k, last)).a) / VECTOR];
        if (k < push.depth) {
          [[unroll]] for (uint f = 0u; f < kFours; ++f)
            [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
              if (row < ROWS) {
                const vec4 four = floatsOf(ofA[row], f);
                [[unroll]] for (uint i = 0u; i < MOST_COLUMNS; ++i) {
                  const vec4 factors = floatsOf(ofB[s * MOST_COLUMNS + i], f);
                  [[unroll]] for (uint e = 0u; e < 4u; ++e) sums[row * VECTOR + i] += four[e] * factors[e];
                }
              }
        }
      }
    }
  } else if (column < push.columns) {
    const uint firstB = base.y + columnAt(column).b;
    for (uint first = slice * VECTOR; first < push.depth; first += kLoadsAcross / VECTOR * step1) {
      ELEMENTS ofB[kLoadsAcross];
      [[unroll]] for (uint i = 0u; i < kLoadsAcross; ++i)
        ofB[i] = b[(firstB + depthAt(min(first + i / VECTOR * step1, last) + i % VECTOR).b) / VECTOR];
      [[unroll]] for (uint chunk = 0u; chunk < kLoadsAcross; chunk += VECTOR) {
        const uint k = first + chunk / VECTOR * step1;
        ELEMENTS ofA[MOST_ROWS];
        [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
          if (row < ROWS && LOADS_A_FIRST)
            ofA[row] = a[(base.x + rowOfA(firstRow + row) + depthAt(min(k, last)).a) / VECTOR];
        if (k < push.depth) {
          if (!LOADS_A_FIRST) ofA[0] = a[(base.x + depthAt(k).a) / VECTOR];
          [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
            if (row < ROWS)
              [[unroll]] for (uint i = 0u; i < VECTOR; ++i) {
                const float factor = floatsOf(ofA[row], i / 4u)[i % 4u];
                [[unroll]] for (uint e = 0u; e < VECTOR; ++e)
                  sums[row * VECTOR + e] += factor * floatsOf(ofB[chunk + i], e / 4u)[e % 4u];
              }
        }
      }
    }
  }
  const uint next = depthFirst ? 1u : 1u << placeBits;
  const uint results = 1u << (columnBits + placeBits);
#if DIMPLE_HLSL
  // There is a single copy of the code that finishes a row.
  [[dont_unroll]] for (uint i = 0u; i < ROWS; ++i) {
    const uint row = firstRow + i;
    if (row < push.rows) {
      barrier();
      [[unroll]] for (uint f = 0u; f < kFours; ++f) {
        vec4 own = vec4(0.0);
        [[unroll]] for (uint k = 0u; k < MOST_ROWS; ++k)
          if (k == i) [[unroll]] for (uint e = 0u; e < 4u; ++e) own[e] = sums[k * VECTOR + f * 4u + e];
        shares[f * 256u + lane] = own;
      }
#else
  [[unroll]] for (uint i = 0u; i < MOST_ROWS; ++i) {
    const uint row = firstRow + i;
    if (i < ROWS && row < push.rows) {
      barrier();
      [[unroll]] for (uint f = 0u; f < kFours; ++f) {
        const uint at = i * VECTOR + f * 4u;
        shares[f * 256u + lane] = vec4(sums[at], sums[at + 1u], sums[at + 2u], sums[at + 3u]);
      }
#endif
      for (uint half1 = slices / 2u; half1 > 0u; half1 /= 2u) {
        barrier();
        if (slice < half1) {
          [[unroll]] for (uint f = 0u; f < kFours; ++f)
            shares[f * 256u + lane] += shares[f * 256u + lane + half1 * next];
        }
      }
      barrier();
      for (uint result = lane; result < results; result += 256u) {
        const uint resultPlace = result >> columnBits;
        const uint resultColumn = (firstPlace << columnBits) + result;
        const uint e = result & ((1u << columnBits) - 1u);
        if (resultColumn < push.columns) {
          const uint from = depthFirst ? resultPlace << push.sliceBits : resultPlace;
          finish(shares[e / 4u * 256u + from][e % 4u], pair, row, resultColumn, columnAt(resultColumn), base);
        }
      }
    }
  }
}
