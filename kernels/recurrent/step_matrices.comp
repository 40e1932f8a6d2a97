#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A step of FLOAT16 by matrices that a subgroup's invocations hold together, read in the order of recurrent/weights.comp
// and recurrent/operand.glsl. A workgroup computes ACROSS tiles of SIZE_COLUMNS columns, all gates of some hidden
// units, of SIZE_ROWS sequences: a subgroup a share of the depth, STEPS matrices at a time.
#include "recurrent/step.glsl"
#include "matrix/cooperative.glsl"

layout(set = 0, binding = BINDING_operand, std430) readonly buffer operandVectorBuffer { uvec4 operandVectors[]; };
layout(set = 0, binding = BINDING_weights, std430) readonly buffer weightsBuffer { uvec4 weights[]; };

const uint kSubgroups = 256u / SUBGROUP;
// Vectors of FLOAT16 of a matrix of either operand, and of FLOAT32 of one of sums.
const uint kTile = SIZE_ROWS * SIZE_DEPTH / 8u;
const uint kTileOfWeights = SIZE_COLUMNS * SIZE_DEPTH / 8u;
const uint kPart = SIZE_ROWS * SIZE_COLUMNS / 4u;
shared uvec4 parts[kSubgroups * ACROSS * kPart];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint kColumns = ACROSS * SIZE_COLUMNS;
  const uint groupsAcross = (push.hiddenSize * SLOTS + kColumns - 1u) / kColumns;
  const uint rowTiles = (push.batch + SIZE_ROWS - 1u) / SIZE_ROWS;
  // Few divisions: a step has little else to do.
  const uint row1 = group / groupsAcross;
  const uint across = group - row1 * groupsAcross;
  const uint direction = push.directions == 1u ? 0u : row1 / rowTiles;
  const uint rowTile = row1 - direction * rowTiles;

  // The element of the state that this invocation finishes.
  const uint units = kColumns / SLOTS;
  const uint ownRow = lane / units;
  const uint ownColumn = lane % units * SLOTS;
  const uint b = rowTile * SIZE_ROWS + ownRow;
  const uint h = across * units + lane % units;
  const bool finishes = ownRow < SIZE_ROWS && b < push.batch && h < push.hiddenSize;
  const Item item = itemAt(direction, finishes ? b : 0u, finishes ? h : 0u);

  const uint depthTiles = push.ofSequence / (kTile * 16u);
  const uint fromAt = (push.fromAt + direction * push.ofDirection + rowTile * push.ofSequence) / 8u;
  const uint weightsAt =
      push.weightsAt / 8u + (direction * groupsAcross + across) * ACROSS * depthTiles * kTileOfWeights;
  MATRIX_SUM sums[ACROSS];
  MATRIX_SUM rests[ACROSS];
  [[unroll]] for (uint j = 0u; j < ACROSS; ++j) {
    sums[j] = MATRIX_SUM(0.0);
    rests[j] = MATRIX_SUM(0.0);
  }
  // The depth is a multiple of what the subgroups take at a time.
  for (uint first = gl_SubgroupID; first < depthTiles; first += kSubgroups * STEPS) {
    MATRIX_A high[STEPS];
    MATRIX_A low[STEPS];
    MATRIX_B factors[STEPS * ACROSS];
    [[unroll]] for (uint i = 0u; i < STEPS; ++i) {
      const uint k = first + i * kSubgroups;
      LOAD_ROWS(high[i], operandVectors, fromAt + k * 2u * kTile, SIZE_DEPTH / 8u);
      LOAD_ROWS(low[i], operandVectors, fromAt + (k * 2u + 1u) * kTile, SIZE_DEPTH / 8u);
      [[unroll]] for (uint j = 0u; j < ACROSS; ++j)
        LOAD_COLUMNS(factors[i * ACROSS + j], weights, weightsAt + (j * depthTiles + k) * kTileOfWeights,
                     SIZE_DEPTH / 8u);
    }
    [[unroll]] for (uint i = 0u; i < STEPS; ++i)
      [[unroll]] for (uint j = 0u; j < ACROSS; ++j) {
        sums[j] = MULTIPLY_ADD(high[i], factors[i * ACROSS + j], sums[j]);
        rests[j] = MULTIPLY_ADD(low[i], factors[i * ACROSS + j], rests[j]);
      }
  }
  [[unroll]] for (uint j = 0u; j < ACROSS; ++j) {
    sums[j] = sums[j] + rests[j] * (1.0 / kLift);
    STORE_ROWS(sums[j], parts, (gl_SubgroupID * ACROSS + j) * kPart, SIZE_COLUMNS / 4u);
  }
  barrier();
  if (!finishes) return;
  const uint at = ownColumn / SIZE_COLUMNS * kPart + (ownRow * SIZE_COLUMNS + ownColumn % SIZE_COLUMNS) / 4u;
  vec4 total = vec4(0.0);
  [[unroll]] for (uint part = 0u; part < kSubgroups; ++part)
    total += uintBitsToFloat(parts[part * ACROSS * kPart + at]);
  if (SLOTS == 2u && ownColumn % 4u != 0u) total.xy = total.zw;
  if (SLOTS == 1u) total.x = total[ownColumn % 4u];
  finishItem(item, total);
}
