#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A product of few tiles whose rows of A are normalized first: each workgroup normalizes the rows of its tile for itself,
// which takes less time than a dispatch of its own. B's first parts are on their way meanwhile. A subgroup computes one
// matrix of results, of DOWN matrices below each other, and reads B straight into matrices.
//   STEPS       room for a row in shared memory, in elements: no less than the depth
//   WHOLE       1: a row fills it
//   B_ACROSS    1: neighbours in B lie across the depth, else along it
//   PARTS_OF    of the normalization: kUsesMean, kScales, kShifts
//   AHEAD       matrices of B that are on their way at most
//   storesRows  1: what rows of A become is stored, too
#define COOPERATIVE 1
#define ONLY_VECTORS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "matrix/matrix.glsl"
#include "matrix/floats.glsl"
#include "matrix/cooperative.glsl"

layout(set = 0, binding = BINDING_y, std430) writeonly buffer yHalvesBuffer { uvec2 yHalves[]; };
layout(set = 0, binding = BINDING_scale, std430) readonly buffer scaleBuffer { uvec4 scale[]; };
layout(set = 0, binding = BINDING_bias, std430) readonly buffer biasBuffer { uvec4 bias[]; };
layout(set = 0, binding = BINDING_normalized, std430) writeonly buffer normalizedBuffer { uvec4 normalized[]; };

const uint kUsesMean = 1u;
const uint kScales = 2u;
const uint kShifts = 4u;

const uint kSubgroups = 256u / SUBGROUP;
const uint kTileRows = DOWN * SIZE_ROWS;
const uint kTileColumns = kSubgroups / DOWN * SIZE_COLUMNS;
const uint kPitchA = STEPS / 8u + 1u;  // one apart, so that neighbours lie in different banks
const uint kPitchOfSums = SIZE_COLUMNS / 4u + 1u;
const uint kOfSums = SIZE_ROWS * kPitchOfSums;
const uint kStaged = kTileRows * kPitchA;
shared uvec4 staged[kStaged > kSubgroups * kOfSums ? kStaged : kSubgroups * kOfSums];

// Invocations that share a row, and the vectors of it that each has.
const uint kSharers = 256u / kTileRows;
const uint kHeld = (STEPS / 8u + kSharers - 1u) / kSharers;
uvec4 held[kHeld];
shared vec2 partials[256];

const uint kSteps = STEPS / SIZE_DEPTH;            // matrices along the depth
const uint kAhead = kSteps < AHEAD ? kSteps : AHEAD;  // of B, on their way
MATRIX_B ahead[kAhead];

void loadB(uint i, uint column, uint step) {
  if (B_ACROSS != 0u) {
    LOAD_ROWS(ahead[i], bVectors, (step * push.bStep + column) / 8u, push.bStep / 8u);
  } else {
    LOAD_COLUMNS(ahead[i], bVectors, (column * push.bColumn + step) / 8u, push.bColumn / 8u);
  }
}

bool exists(uint matrix) { return WHOLE != 0u || matrix * SIZE_DEPTH < push.depth; }

vec2 sumOfRow(uint lane, vec2 own) {
  barrier();
  partials[lane] = own;
  barrier();
  vec2 sum = vec2(0.0);
  [[unroll]] for (uint i = 0u; i < kSharers; ++i) sum += partials[lane / kSharers * kSharers + i];
  return sum;
}

// The mean of what an invocation holds of a row, and what the differences from it are multiplied with.
vec2 momentsOfRow(uint lane, uint own, uint last) {
  const float elements = float(push.depth);
  float mean = 0.0;
  if ((PARTS_OF & kUsesMean) != 0u) {
    vec2 sums = vec2(0.0);
    [[unroll]] for (uint n = 0u; n < kHeld; ++n)
      if (own + n * kSharers <= last)
        [[unroll]] for (uint w = 0u; w < 4u; ++w) sums += unpackHalf2x16(held[n][w]);
    mean = sumOfRow(lane, vec2(sums.x + sums.y, 0.0)).x / elements;
  }
  vec2 sums = vec2(0.0);
  vec2 squares = vec2(0.0);
  [[unroll]] for (uint n = 0u; n < kHeld; ++n)
    if (own + n * kSharers <= last)
      [[unroll]] for (uint w = 0u; w < 4u; ++w) {
        const vec2 two = unpackHalf2x16(held[n][w]) - mean;
        sums += two;
        squares += two * two;
      }
  vec2 both = sumOfRow(lane, vec2(sums.x + sums.y, squares.x + squares.y));
  // The differences from the mean would sum to 0: what they do sum to corrects it.
  if ((PARTS_OF & kUsesMean) == 0u) both.x = 0.0;
  const float correction = both.x / elements;
  const float share = (both.y - both.x * correction) / elements;
  const float variance = isNan(share) || share >= 0.0 ? share : 0.0;
  return vec2(mean + correction, 1.0 / sqrt(variance + uintBitsToFloat(push.normalEpsilon)));
}

// Brings the rows of the tile to shared memory, normalized.
void stageRows(uint lane, uint row, bool stores) {
  const uint last = push.depth / 8u - 1u;
  const uint own = lane % kSharers;
  [[unroll]] for (uint n = 0u; n < kHeld; ++n)
    held[n] = aVectors[min(row, push.rows - 1u) * (push.depth / 8u) + min(own + n * kSharers, last)];
  const vec2 moments = momentsOfRow(lane, own, last);
  [[unroll]] for (uint n = 0u; n < kHeld; ++n) {
    const uint vector = own + n * kSharers;
    if (vector > last) continue;
    const uvec4 factors = (PARTS_OF & kScales) != 0u ? scale[vector] : uvec4(0u);
    const uvec4 shifts = (PARTS_OF & kShifts) != 0u ? bias[vector] : uvec4(0u);
    uvec4 eight;
    [[unroll]] for (uint w = 0u; w < 4u; ++w) {
      vec2 two = (unpackHalf2x16(held[n][w]) - moments.x) * moments.y;
      if ((PARTS_OF & kScales) != 0u) two *= unpackHalf2x16(factors[w]);
      if ((PARTS_OF & kShifts) != 0u) two += unpackHalf2x16(shifts[w]);
      eight[w] = halvesFromPair(two);
    }
    staged[lane / kSharers * kPitchA + vector] = eight;
    if (stores && push.storesRows != 0u && row < push.rows) normalized[row * (push.depth / 8u) + vector] = eight;
  }
}

// Results of a subgroup, a row of whose matrix lies in shared memory in vectors of four.
void storeResults(uint at, uint firstRow, uint firstColumn) {
  const uint kFours = SIZE_COLUMNS / 4u;
  for (uint item = gl_SubgroupInvocationID; item < SIZE_ROWS * kFours; item += SUBGROUP) {
    const uint row = firstRow + item / kFours;
    const uint column = firstColumn + item % kFours * 4u;
    if (row >= push.rows || column >= push.columns) continue;
    const vec4 four = uintBitsToFloat(staged[at + item / kFours * kPitchOfSums + item % kFours]);
    const uint y4 = (row * yRowStride() + column) / 4u;
    uvec4 raw;
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
      raw[e] = toRaw(finishedWith(four[e], row, columnAt(column + e), uvec4(0u), 0.0)) & 0xffffu;
    yHalves[y4] = uvec2(raw.x | raw.y << 16u, raw.z | raw.w << 16u);
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + kTileRows - 1u) / kTileRows;
  const uint tileRow = group % rowTiles * kTileRows;
  const uint row = gl_SubgroupID % DOWN * SIZE_ROWS;
  const uint column = group / rowTiles * kTileColumns + gl_SubgroupID / DOWN * SIZE_COLUMNS;
  const uint readColumn = min(column, push.columns - SIZE_COLUMNS);
  [[unroll]] for (uint i = 0u; i < kAhead; ++i)
    if (exists(i)) loadB(i, readColumn, i * SIZE_DEPTH);
  stageRows(lane, tileRow + lane / kSharers, group < rowTiles);
  barrier();

  MATRIX_SUM sums = MATRIX_SUM(0.0);
  [[dont_unroll]] for (uint first = 0u; first < kSteps; first += kAhead) {
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      if (!exists(first + i)) continue;
      MATRIX_A a;
      LOAD_ROWS(a, staged, row * kPitchA + (first + i) * (SIZE_DEPTH / 8u), kPitchA);
      sums = MULTIPLY_ADD(a, ahead[i], sums);
      if (first + kAhead + i < kSteps && exists(first + kAhead + i))
        loadB(i, readColumn, (first + kAhead + i) * SIZE_DEPTH);
    }
  }
  barrier();
  const uint at = gl_SubgroupID * kOfSums;
  STORE_ROWS(sums, staged, at, kPitchOfSums);
  SUBGROUP_BARRIER();
  storeResults(at, tileRow + row, column);
}
