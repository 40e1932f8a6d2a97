#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// few_rows.comp where VECTOR (4 or 8) elements of A lie side by side along the depth, and as many of B along it
// (kBDepthFirst) or along a row. An invocation takes VECTOR steps of the depth at a time, of one column or else of
// VECTOR neighbours.
//   matrixRank   walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"

// ROWS: not more than these rows, a power of 2.

// Sizes of arrays are known when HLSL is compiled.
#if DIMPLE_HLSL
#define MOST_ROWS 8u
#else
#define MOST_ROWS ROWS
#endif
const uint kFours = VECTOR / 4u;  // of a vector
const uint kLoads = 8u;           // vectors of B that are loaded before they are used
shared vec4 shares[kFours * 256u];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint pair = group / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint slices = 1u << push.sliceBits;
  const uint placeBits = 8u - push.sliceBits;
  const bool depthFirst = (push.flags & kBDepthFirst) != 0u;
  const uint slice = depthFirst ? lane & (slices - 1u) : lane >> placeBits;
  const uint firstPlace = (group - pair * push.columnGroups) << placeBits;
  const uint place = firstPlace + (depthFirst ? lane >> push.sliceBits : lane & ((1u << placeBits) - 1u));
  const uint column = depthFirst ? place : place * VECTOR;
  const uint firstB = base.y + columnAt(column).b;
  const uint step1 = VECTOR * slices;
  const uint last = push.depth - VECTOR;

  vec4 sums[MOST_ROWS * kFours];
  [[unroll]] for (uint i = 0u; i < MOST_ROWS * kFours; ++i) sums[i] = vec4(0.0);
  // Steps behind the depth load the last ones: loads without conditions overlap.
  if (column < push.columns && depthFirst) {
    for (uint first = slice * VECTOR; first < push.depth; first += kLoads * step1) {
      ELEMENTS ofB[kLoads];
      [[unroll]] for (uint i = 0u; i < kLoads; ++i)
        ofB[i] = b[(firstB + depthAt(min(first + i * step1, last)).b) / VECTOR];
      [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
        const uint k = first + i * step1;
        if (k < push.depth) {
          [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
            if (row < ROWS && row < push.rows) {
              const ELEMENTS ofA = a[(base.x + row * aRowStride() + depthAt(k).a) / VECTOR];
              [[unroll]] for (uint f = 0u; f < kFours; ++f)
                sums[row * kFours] += floatsOf(ofA, f) * floatsOf(ofB[i], f);
            }
        }
      }
    }
  } else if (column < push.columns) {
    for (uint first = slice * VECTOR; first < push.depth; first += kLoads / VECTOR * step1) {
      ELEMENTS ofB[kLoads];
      [[unroll]] for (uint i = 0u; i < kLoads; ++i)
        ofB[i] = b[(firstB + depthAt(min(first + i / VECTOR * step1, last) + i % VECTOR).b) / VECTOR];
      [[unroll]] for (uint chunk = 0u; chunk < kLoads; chunk += VECTOR) {
        const uint k = first + chunk / VECTOR * step1;
        if (k < push.depth) {
          [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row) {
            if (row < ROWS && row < push.rows) {
              const ELEMENTS ofA = a[(base.x + row * aRowStride() + depthAt(k).a) / VECTOR];
              [[unroll]] for (uint i = 0u; i < VECTOR; ++i) {
                const float factor = floatsOf(ofA, i / 4u)[i % 4u];
                [[unroll]] for (uint f = 0u; f < kFours; ++f)
                  sums[row * kFours + f] += factor * floatsOf(ofB[chunk + i], f);
              }
            }
          }
        }
      }
    }
  }
  const uint next = depthFirst ? 1u : 1u << placeBits;
  const uint results = (depthFirst ? 1u : VECTOR) << placeBits;
  [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row) {
    if (row < ROWS && row < push.rows) {
      barrier();
      [[unroll]] for (uint f = 0u; f < kFours; ++f) shares[f * 256u + lane] = sums[row * kFours + f];
      for (uint half1 = slices / 2u; half1 > 0u; half1 /= 2u) {
        barrier();
        if (slice < half1) {
          [[unroll]] for (uint f = 0u; f < kFours; ++f)
            shares[f * 256u + lane] += shares[f * 256u + lane + half1 * next];
        }
      }
      barrier();
      for (uint i = lane; i < results; i += 256u) {
        const uint resultPlace = depthFirst ? i : i / VECTOR;
        const uint resultColumn = (depthFirst ? firstPlace : firstPlace * VECTOR) + i;
        if (resultColumn < push.columns) {
          const vec4 four = shares[depthFirst ? resultPlace << push.sliceBits : i % VECTOR / 4u * 256u + resultPlace];
          const float sum = depthFirst ? four.x + four.y + four.z + four.w : four[i % 4u];
          finish(sum, pair, row, resultColumn, columnAt(resultColumn), base);
        }
      }
    }
  }
}
