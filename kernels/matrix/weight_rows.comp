#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Products of few rows with weights of BITS bits, which lie along the depth and are dequantized on the way:
// y = finish(sum over the depth of A * (B - zero point) * scale). Blocks have at least kPart weights. An invocation
// takes a vector of weights of each of kColumns neighbouring columns at a time; slices of a workgroup share the depth.
//   A         comes in vectors of VECTOR elements along the depth
//   matrixRank      walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
// With GATES (gates.glsl), neighbouring places have columns of the two halves.
#define INTEGER_WEIGHTS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"
#include "matrix/gates.glsl"

layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { uvec4 b[]; };
#include "matrix/weights.glsl"

const uint kColumns = 4u;
const uint kPart = 16u;  // weights that have one scale
#if DIMPLE_HLSL
#define MOST_ROWS 4u
#define UNROLL_PARTS [[dont_unroll]]  // which takes half the time to compile
#else
#define MOST_ROWS ROWS
#define UNROLL_PARTS [[unroll]]
#endif
#define WEIGHTS (128u / BITS)  // of a vector
shared vec4 shares[256];

uint rowOfA(uint row) { return min(row, push.rows - 1u) * aRowStride(); }

// Which word four weights are in; `four`: of a part, which has two words of 4 bits or four of 8.
uint wordOf(uvec4 vector, uint part, uint four) {
  const uvec2 words = part == 0u ? vector.xy : vector.zw;
  return BITS == 4u ? words[four / 2u] : vector[four];
}

// Four elements of a row of A, times the shares of their places.
vec4 fourOfA(uint at) {
#if VECTOR == 8
  return floatsOf(a[at / 8u], at / 4u % 2u) * sharesOfPlaces();
#else
  return floatsOf(a[at / 4u], 0u) * sharesOfPlaces();
#endif
}

// Of a place, among those of y.
uint columnOfPlace(uint place) { return (GATES != 0u ? place / 2u : place) * kColumns; }

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  // Blocks of rows of the same columns run side by side, so that B is read from memory once.
  const uint blocks = (push.rows + ROWS - 1u) / ROWS;
  const uint columnGroup = group / blocks;
  const uint firstRow = (group - columnGroup * blocks) * ROWS;
  const uint pair = columnGroup / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint slices = 1u << push.sliceBits;
  const uint slice = lane & (slices - 1u);
  const uint firstPlace = (columnGroup - pair * push.columnGroups) << (8u - push.sliceBits);
  const uint place = firstPlace + (lane >> push.sliceBits);
  const uint column = columnOfPlace(place);
  const uint last = push.depth - WEIGHTS;

  float sums[MOST_ROWS * kColumns];
  [[unroll]] for (uint i = 0u; i < MOST_ROWS * kColumns; ++i) sums[i] = 0.0;
  if (column < push.columns && slice * WEIGHTS < push.depth) {
    uint firstB[kColumns];
    uvec2 firstBlock[kColumns];
    uvec4 next[kColumns];
    [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
      const uint own = columnOfB(column + i, place % 2u);
      firstB[i] = base.y + columnAt(own).b;
      firstBlock[i] = firstBlockOf(own);
      next[i] = b[(firstB[i] + slice * WEIGHTS) / WEIGHTS];
    }
    for (uint k = slice * WEIGHTS; k < push.depth; k += slices * WEIGHTS) {
      // Those of the next turn are on their way meanwhile.
      uvec4 ofB[kColumns];
      [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
        ofB[i] = next[i];
        next[i] = b[(firstB[i] + min(k + slices * WEIGHTS, last)) / WEIGHTS];
      }
      UNROLL_PARTS for (uint part = 0u; part < WEIGHTS / kPart; ++part) {
        const uint first = k + part * kPart;
        float scales[kColumns];
        vec4 less[kColumns];
        [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
          const uvec2 block = blockAt(firstBlock[i], first);
          scales[i] = scaleAt(block.x);
          less[i] = lessOf(zeroAt(block.y));
        }
        float parts[MOST_ROWS * kColumns];
        [[unroll]] for (uint i = 0u; i < MOST_ROWS * kColumns; ++i) parts[i] = 0.0;
        [[unroll]] for (uint four = 0u; four < kPart / 4u; ++four) {
          vec4 weights[kColumns];
          [[unroll]] for (uint i = 0u; i < kColumns; ++i)
            weights[i] = fourWeights(wordOf(ofB[i], part, four), four % 2u != 0u, less[i]);
          [[unroll]] for (uint row = 0u; row < MOST_ROWS; ++row)
            if (row < ROWS) {
              const vec4 factors = fourOfA(base.x + rowOfA(firstRow + row) + first + four * 4u);
              [[unroll]] for (uint i = 0u; i < kColumns; ++i)
                [[unroll]] for (uint e = 0u; e < 4u; ++e) parts[row * kColumns + i] += factors[e] * weights[i][e];
            }
        }
        [[unroll]] for (uint i = 0u; i < MOST_ROWS * kColumns; ++i) sums[i] += scales[i % kColumns] * parts[i];
      }
    }
  }
  const uint results = kColumns << (GATES != 0u ? 7u - push.sliceBits : 8u - push.sliceBits);
  // One copy of what finishes a row, which compiles in a fraction of the time.
  [[dont_unroll]] for (uint i = 0u; i < ROWS; ++i) {
    vec4 own = vec4(sums[0], sums[1], sums[2], sums[3]);
    [[unroll]] for (uint k = 1u; k < MOST_ROWS; ++k)
      if (k == i) own = vec4(sums[4u * k], sums[4u * k + 1u], sums[4u * k + 2u], sums[4u * k + 3u]);
    const uint row = firstRow + i;
    if (row < push.rows) {
      barrier();
      shares[lane] = own;
      for (uint half1 = slices / 2u; half1 > 0u; half1 /= 2u) {
        barrier();
        if (slice < half1) shares[lane] += shares[lane + half1];
      }
      barrier();
      for (uint result = lane; result < results; result += 256u) {
        const uint resultColumn = columnOfPlace(firstPlace) + result;
        if (GATES != 0u) {
          const uint pairOfPlaces = (result / kColumns * 2u) << push.sliceBits;
          if (resultColumn < push.columns)
            finishGate(shares[pairOfPlaces][result % kColumns], shares[pairOfPlaces + slices][result % kColumns], row,
                       columnAt(resultColumn), base);
        } else if (resultColumn < push.columns)
          finish(shares[(result / kColumns) << push.sliceBits][result % kColumns], pair, row, resultColumn,
                 columnAt(resultColumn), base);
      }
    }
  }
}
