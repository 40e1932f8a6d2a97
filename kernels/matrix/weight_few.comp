#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What weight_rows.comp computes, of at most ROWS rows of FLOAT16, by matrices whose elements invocations set one by
// one: weights pass from memory through registers alone. SHARES subgroups share the depth of SIZE_ROWS columns.
//
// The columns of B are rows of the factor on the left, the rows of A columns of the one on the right. Of a chunk of the
// depth, each of kSharing neighbours loads a vector of weights of the columns that it holds elements of, so that which
// steps of the depth meet in a multiplication differs from one neighbour to the next. Weights are rounded to FLOAT16 when
// they are scaled, as a DEQUANTIZE would have stored them.
//   CHUNKS        that are on their way at once
//   PARTS         of a vector of weights that have a scale each
//   ZERO_POINTS   1: given, and not those of all (zeroAt)
#define PART_SETS 1u
#include "matrix/weight_few.glsl"

const uint kChunk = kSharing * kWeights;       // steps
const uint kPasses = (ROWS + SIZE_COLUMNS - 1u) / SIZE_COLUMNS;
const uint kFactors = kPasses * kHeldColumns;  // rows of A that an invocation has elements of

// A subgroup's part of A, [row][chunk][eight of a vector][neighbour], and a vector of zeros.
const uint kOfRow = CHUNKS * kEights * kSharing;
const uint kOfA = ROWS * kOfRow;
const uint kStaged = kOfA + 1u;
shared uvec4 staged[kSubgroups * kStaged];
const uint kItemsOfA = (kOfA + SUBGROUP - 1u) / SUBGROUP;
uvec4 ofA[kItemsOfA];
uvec4 ofFactor[kItemsOfA];
uvec4 vectors[CHUNKS * kHeldRows];
uint scaleWords[CHUNKS * kHeldRows * PARTS];
uint zeroWords[CHUNKS * kHeldRows * PARTS];

void loadA(uint own, uint base, uint firstChunk) {
  [[unroll]] for (uint i = 0u; i < kItemsOfA; ++i) {
    const uint item = i * SUBGROUP + own;
    const uint row = item / kOfRow;
    const uint k = firstChunk * kChunk + item % kOfRow * 8u;
    ofA[i] = uvec4(0u);
    if (row < min(ROWS, push.rows) && k < push.depth) ofA[i] = a[(base + row * push.aRow + k) / 8u];
    if (NORMALIZES == kWithFactor) ofFactor[i] = factor[min(k, push.depth - 8u) / 8u];
  }
}

void stageA(uint own, uint at) {
  [[unroll]] for (uint i = 0u; i < kItemsOfA; ++i) {
    const uint item = i * SUBGROUP + own;
    const uint vector = item % kOfRow;
    const uint neighbour = vector / kEights % kSharing;
    const uint place = vector / (kEights * kSharing) * kEights + vector % kEights;
    if (item < kOfA)
      staged[at + item / kOfRow * kOfRow + place * kSharing + neighbour] =
        inOrder(asMultiplied(ofA[i], item / kOfRow, ofFactor[i]));
  }
}

// Of the chunks from one on: A, which is there soonest, weights, and the words that hold their parameters. What is
// behind the depth is 0 in A, and so are its scales, which may be infinite.
void load(uint own, uint baseA, uint firstB[kHeldRows], uvec2 firstBlock[kHeldRows], uint firstChunk) {
  loadA(own, baseA, firstChunk);
  const uint last = push.depth - kWeights;
  [[unroll]] for (uint c = 0u; c < CHUNKS; ++c) {
    const uint k = min((firstChunk + c) * kChunk + own % kSharing * kWeights, last);
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) vectors[c * kHeldRows + r] = b[(firstB[r] + k) / kWeights];
  }
  [[unroll]] for (uint c = 0u; c < CHUNKS; ++c) {
    const uint k = (firstChunk + c) * kChunk + own % kSharing * kWeights;
    [[unroll]] for (uint i = 0u; i < kHeldRows * PARTS; ++i) {
      const uvec2 block = blockAt(firstBlock[i / PARTS], min(k, last) + i % PARTS * (kWeights / PARTS));
      const uint word = scale[block.x / 2u] >> (block.x % 2u * 16u);
      scaleWords[c * kHeldRows * PARTS + i] = k < push.depth ? word & 0xffffu : 0u;
      if (ZERO_POINTS != 0u)
        zeroWords[c * kHeldRows * PARTS + i] =
            bitfieldExtract(zeroWordAt(block.y) ^ push.signs, int(block.y * BITS % 32u), int(BITS));
    }
  }
}

void multiplyEight(uint own, uint at, uint c, uint eight, inout MATRIX_SUM totals[kPasses]) {
  TWO_HALVES weights[kHeldRows * 4u];
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    TWO_HALVES pairs[4];
    const uint part = (c * kHeldRows + r) * PARTS + eight * PARTS / kEights;
    eightOf(vectors[c * kHeldRows + r], eight, ZERO_POINTS != 0u ? zeroWords[part] : push.zeroAt, pairs);
    const TWO_HALVES scales = TO_HALVES(scaleWords[part] | (scaleWords[part] << 16u));
    [[unroll]] for (uint i = 0u; i < 4u; ++i) weights[r * 4u + i] = pairs[i] * scales;
  }
  uvec4 factors[kFactors];
  [[unroll]] for (uint i = 0u; i < kFactors; ++i) {
    // The first row of A that this may be is known beforehand.
    const uint rowAtLeast = i / kHeldColumns * SIZE_COLUMNS + i % kHeldColumns * kAcross;
    const uint row = rowAtLeast + own / kSharing;
    factors[i] = uvec4(0u);
    if (rowAtLeast < ROWS)
      factors[i] = staged[at + (row < ROWS ? row * kOfRow + (c * kEights + eight) * kSharing + own % kSharing : kOfA)];
  }
  [[unroll]] for (uint step = 0u; step < 8u / kDepthAlong; ++step) {
    MATRIX_A left;
    [[unroll]] for (uint i = 0u; i < kHeldRows * kDepthAlong; ++i) {
      const uint half1 = step * kDepthAlong + i % kDepthAlong;
      MATRIX_AT(left, i) = HALF_OF(weights[i / kDepthAlong * 4u + half1 / 2u], half1 % 2u);
    }
    [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass) {
      MATRIX_B right;
      [[unroll]] for (uint i = 0u; i < kHeldColumns * kDepthAlong; ++i) {
        const uint half1 = step * kDepthAlong + i % kDepthAlong;
        const TWO_HALVES two = TO_HALVES(factors[pass * kHeldColumns + i / kDepthAlong][half1 / 2u]);
        MATRIX_AT(right, i) = HALF_OF(two, half1 % 2u);
      }
      totals[pass] = MULTIPLY_ADD(left, right, totals[pass]);
    }
  }
}

// The totals of subgroups, [subgroup][row][column].
void storeParts(uint own, MATRIX_SUM totals[kPasses]) {
  [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass)
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
      const uint row = pass * SIZE_COLUMNS + heldColumn(own, i);
      if (row < ROWS) parts[(gl_SubgroupID * ROWS + row) * SIZE_ROWS + heldRow(own, i)] = MATRIX_AT(totals[pass], i);
    }
}

// Stores results of a group of columns of y.
void finishColumns(uint lane, bool known, uint pair, uint firstColumn, uvec2 first, uvec4 base) {
  [[dont_unroll]] for (uint item = lane; item < kColumnsOfGroup * push.rows; item += INVOCATIONS) {
    const uint result = item % kResults;
    const uint set = item / kResults % (kSubgroups / SHARES);
    const uint row = item / kColumnsOfGroup;
    const uint column = firstColumn + set * kResults + result;
    if (column < push.columns) {
      const Column place = columnAt(column);
      const float sum = sumOf(0u, known, set, row, result, 0u, column, first);
      if (GATES != 0u)
        finishGate(sum, sumOf(0u, known, set, row, result, 1u, column, first), row, place, base);
      else
        finish(sum, pair, row, column, place, base);
    }
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint own = gl_SubgroupInvocationID;
  const bool isOne = push.matrixRank == 0u;
  const uint pair = isOne ? 0u : group / push.workgroups;
  const uvec2 first = isOne ? uvec2(push.baseA, push.baseB) : walkOffsets(kMatrices, push.matrixRank, pair).xy;
  const uint ofSet = gl_SubgroupID / SHARES * kResults;
  const uint chunks = (push.depth + kChunk - 1u) / kChunk;
  const uint at = gl_SubgroupID * kStaged;
  const uint ofShare = gl_SubgroupID % SHARES * CHUNKS;
  uint columnGroup = group - pair * push.workgroups;
  uint firstB[kHeldRows];
  uvec2 firstBlock[kHeldRows];
  findColumns(own, columnGroup * kColumnsOfGroup + ofSet, first.y, firstB, firstBlock);
  if (own == 0u) staged[at + kOfA] = uvec4(0u);
  bool known = PLACES == kKnown;
  if (kLooks) {
    stagePlaces(lane);
    barrier();
    known = placesAreKnown(own);
  }
  load(own, first.x, firstB, firstBlock, ofShare);  // later than that, or registers are short
  if (NORMALIZES != 0u) findRoots(lane, own, first.x);
  const uvec4 base = isOne ? uvec4(first, parameters[kMatrices].z, push.baseY) : walkOffsets(kMatrices, push.matrixRank, pair);
  for (; columnGroup < push.columnGroups; columnGroup += push.workgroups) {
    MATRIX_SUM totals[kPasses];
    [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass) totals[pass] = MATRIX_SUM(0.0);
    for (uint chunk = 0u; chunk < chunks; chunk += SHARES * CHUNKS) {
      stageA(own, at);
      SUBGROUP_BARRIER();
      [[unroll]] for (uint c = 0u; c < CHUNKS; ++c)
        [[unroll]] for (uint eight = 0u; eight < kEights; ++eight) multiplyEight(own, at, c, eight, totals);
      uint next = chunk + SHARES * CHUNKS;
      uint nextGroup = columnGroup;
      if (next >= chunks) {
        next = 0u;
        nextGroup += push.workgroups;
        findColumns(own, nextGroup * kColumnsOfGroup + ofSet, first.y, firstB, firstBlock);
      }
      if (nextGroup < push.columnGroups) load(own, first.x, firstB, firstBlock, next + ofShare);
      SUBGROUP_BARRIER();
    }
    barrier();  // what the last sums are made of has been read
    storeParts(own, totals);
    barrier();
    finishColumns(lane, known, pair, columnGroup * kColumnsOfGroup, first, base);
  }
}
