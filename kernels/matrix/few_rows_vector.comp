#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// few_rows.comp where four elements of A lie side by side along the depth, and four of B along it (kBDepthFirst) or
// along a row. An invocation takes four steps of the depth at a time, of one column or else of four neighbours.
//   matrixRank   walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define VECTOR 1
#define PUSH_FIELDS uint rows; uint columns; uint depth; uint columnGroups; uint matrixRank; uint alpha; uint beta; uint activationLow; uint activationHigh; uint flags; uint sliceBits;
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"

// Not more than these rows, a power of 2.
layout(constant_id = 3) const uint ROWS = 8;

const uint kMostRows = 8u;
const uint kSteps = 2u;  // of four that are loaded before they are used
shared vec4 shares[256];

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
  const uint place = ((group - pair * push.columnGroups) << placeBits) +
                     (depthFirst ? lane >> push.sliceBits : lane & ((1u << placeBits) - 1u));
  const uint column = depthFirst ? place : place * 4u;
  const uint firstB = base.y + columnAt(column).b;

  vec4 sums[kMostRows];
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) sums[row] = vec4(0.0);
  if (column < push.columns) {
    for (uint first = slice * 4u; first < push.depth; first += kSteps * 4u * slices) {
      if (depthFirst) {
        vec4 b4[kSteps];
        [[unroll]] for (uint i = 0u; i < kSteps; ++i) {
          const uint k = first + i * 4u * slices;
          b4[i] = k < push.depth ? floatsOf(b[(firstB + depthAt(k).b) / 4u]) : vec4(0.0);
        }
        [[unroll]] for (uint i = 0u; i < kSteps; ++i) {
          const uint k = first + i * 4u * slices;
          if (k < push.depth) {
            [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
              if (row < ROWS && row < push.rows) sums[row] += floatsOf(a[(base.x + row * aRowStride() + depthAt(k).a) / 4u]) * b4[i];
          }
        }
      } else {
        vec4 b4[kSteps * 4u];
        [[unroll]] for (uint i = 0u; i < kSteps * 4u; ++i) {
          const uint k = first + i / 4u * 4u * slices + i % 4u;
          b4[i] = k < push.depth ? floatsOf(b[(firstB + depthAt(k).b) / 4u]) : vec4(0.0);
        }
        [[unroll]] for (uint i = 0u; i < kSteps; ++i) {
          const uint k = first + i * 4u * slices;
          if (k < push.depth) {
            [[unroll]] for (uint row = 0u; row < kMostRows; ++row) {
              if (row < ROWS && row < push.rows) {
                const vec4 a4 = floatsOf(a[(base.x + row * aRowStride() + depthAt(k).a) / 4u]);
                [[unroll]] for (uint j = 0u; j < 4u; ++j) sums[row] += a4[j] * b4[i * 4u + j];
              }
            }
          }
        }
      }
    }
  }
  const uint next = depthFirst ? 1u : 1u << placeBits;
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) {
    if (row < ROWS && row < push.rows) {
      barrier();
      shares[lane] = sums[row];
      for (uint half1 = slices / 2u; half1 > 0u; half1 /= 2u) {
        barrier();
        if (slice < half1) shares[lane] += shares[lane + half1 * next];
      }
      if (slice == 0u && column < push.columns) {
        const vec4 sum = shares[lane];
        if (depthFirst) {
          finish(sum.x + sum.y + sum.z + sum.w, pair, row, column, columnAt(column), base);
        } else {
          [[dont_unroll]] for (uint j = 0u; j < 4u; ++j)
            finish(sum[j], pair, row, column + j, columnAt(column + j), base);
        }
      }
    }
  }
}
