#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What weight_few.comp computes, of one row. The other columns of the factor on the right are idle then, and keep the
// sums of vectors of weights apart: of a round of SIZE_COLUMNS vectors along the depth, the n-th column holds what the
// n-th vector is multiplied by, and zeros. Sums are scaled, not weights, which takes fewer instructions.
//   PARTS         of a vector of weights that have a scale each
//   PAIRED        1: scales of neighbouring vectors lie in one word
//   ZERO_POINTS   1: given, and not those of all (zeroAt); kTogether: those of a round and a column lie in one word
const uint ROWS = 1u;
#define PART_SETS 2u
#include "matrix/weight_few.glsl"
#extension GL_KHR_shader_subgroup_shuffle : require

const uint kTogether = 2u;
const uint kRound = SIZE_COLUMNS * kWeights;  // steps
const uint kChains = 2u;  // of multiplications that do not wait for each other
const uint kSums = PARTS * kChains;

// A subgroup's part of A, in eights, and a vector of zeros.
const uint kOfRound = SIZE_COLUMNS * kEights;
const uint kZeros = kSubgroups * kOfRound;
const uint kItemsOfA = (kOfRound + SUBGROUP - 1u) / SUBGROUP;
shared uvec4 staged[kZeros + kEights];

// What is loaded of a round.
const uint kVectors = kAlong * kHeldRows;
const uint kRowParts = kHeldRows * PARTS;
const uint kParts = kAlong * kRowParts;
uvec4 ofA[kItemsOfA];
uvec4 ofFactor[kItemsOfA];
uvec4 vectors[kVectors];
uint scaleWords[kParts];
uint zeroWords[kParts];

void loadA(uint own, uint base, uint round) {
  [[unroll]] for (uint i = 0u; i < kItemsOfA; ++i) {
    const uint k = min(round * kRound + (i * SUBGROUP + own) * 8u, push.depth - 8u);
    ofA[i] = a[(base + k) / 8u];
    if (NORMALIZES == kWithFactor) ofFactor[i] = factor[k / 8u];
  }
}

// Steps of the depth before a vector of weights that an invocation loads, and before one whose sums it holds.
uint stepOfLoaded(uint own, uint round, uint c) { return round * kRound + (c * kSharing + own % kSharing) * kWeights; }
uint stepOfSums(uint own, uint round, uint c) { return round * kRound + heldColumn(own, c) * kWeights; }

uvec2 blockOfPart(uvec2 firstBlock, uint k, uint part) {
  return blockAt(firstBlock, min(k, push.depth - kWeights) + part * (kWeights / PARTS));
}

// Of a round, A, which is there soonest, weights, and the words that hold their parameters, all as they are in memory:
// what is done to them here waits for them, and what follows with it.
void load(uint own, uint baseA, uint firstB[kHeldRows], uvec2 firstBlock[kHeldRows], uint round) {
  loadA(own, baseA, round);
  [[unroll]] for (uint c = 0u; c < kAlong; ++c) {
    const uint k = min(stepOfLoaded(own, round, c), push.depth - kWeights);
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) vectors[c * kHeldRows + r] = b[(firstB[r] + k) / kWeights];
  }
  [[unroll]] for (uint c = 0u; c < kAlong; ++c)
    [[unroll]] for (uint i = 0u; i < kRowParts; ++i) {
      const uint at = c * kRowParts + i;
      const uvec2 first = firstBlock[i / PARTS];
      if (PAIRED == 0u || c % 2u == 0u)
        scaleWords[at] = scale[blockOfPart(first, stepOfSums(own, round, c), i % PARTS).x / 2u];
      else
        scaleWords[at] = scaleWords[at - kRowParts];
      if (ZERO_POINTS == kTogether)
        zeroWords[at] = c == 0u ? zeroWordAt(blockOfPart(first, round * kRound, 0u).y) : zeroWords[i];
      else if (ZERO_POINTS != 0u)
        zeroWords[at] = zeroWordAt(blockOfPart(first, stepOfLoaded(own, round, c), i % PARTS).y);
    }
}

// Of a part of a vector; what is behind the depth has a scale of 0, since they may be infinite.
float scaleOf(uint own, uint round, uint c, uint i, uvec2 firstBlock) {
  const uint k = stepOfSums(own, round, c);
  const uint half1 = PAIRED != 0u ? c % 2u : blockOfPart(firstBlock, k, i % PARTS).x % 2u;
  const float scale1 = unpackHalf2x16(scaleWords[c * kRowParts + i] >> (half1 * 16u)).x;
  return k < push.depth ? scale1 : 0.0;
}

uint zeroPointOf(uint own, uint round, uint c, uint i, uvec2 firstBlock) {
  if (ZERO_POINTS == 0u) return push.zeroAt;
  const uint word = zeroWords[c * kRowParts + i] ^ push.signs;
  const uint place = ZERO_POINTS == kTogether
                         ? c * kSharing + own % kSharing
                         : blockOfPart(firstBlock, stepOfLoaded(own, round, c), i % PARTS).y;
  return bitfieldExtract(word, int(place * BITS % 32u), int(BITS));
}

// `round`: the one that is loaded; behind the depth are zeros.
void stageA(uint own, uint round) {
  [[unroll]] for (uint i = 0u; i < kItemsOfA; ++i) {
    const uint item = i * SUBGROUP + own;
    const uvec4 eight = inOrder(asMultiplied(ofA[i], 0u, ofFactor[i]));
    if (item < kOfRound)
      staged[gl_SubgroupID * kOfRound + item] = round * kRound + item * 8u < push.depth ? eight : uvec4(0u);
  }
}

// Eights of A in the columns that an invocation has elements of: of the vector of its own, or zeros.
void findFactors(uint own, uint c, out uint at[kHeldColumns]) {
  const uint vector = c * kSharing + own % kSharing;
  [[unroll]] for (uint i = 0u; i < kHeldColumns; ++i)
    at[i] = own / kSharing + i * kAcross == vector ? gl_SubgroupID * kOfRound + vector * kEights : kZeros;
}

void multiplyEight(uint c, uint eight, uint at[kHeldColumns], uint zeroPoints[kRowParts], inout MATRIX_SUM sums[kSums]) {
  TWO_HALVES weights[kHeldRows * 4u];
  const uint part = eight * PARTS / kEights;
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    TWO_HALVES pairs[4];
    eightOf(vectors[c * kHeldRows + r], eight, zeroPoints[r * PARTS + part], pairs);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) weights[r * 4u + i] = pairs[i];
  }
  uvec4 factors[kHeldColumns];
  [[unroll]] for (uint i = 0u; i < kHeldColumns; ++i) factors[i] = staged[at[i] + eight];
  [[unroll]] for (uint step = 0u; step < 8u / kDepthAlong; ++step) {
    MATRIX_A left;
    MATRIX_B right;
    [[unroll]] for (uint i = 0u; i < kHeldRows * kDepthAlong; ++i) {
      const uint half1 = step * kDepthAlong + i % kDepthAlong;
      MATRIX_AT(left, i) = HALF_OF(weights[i / kDepthAlong * 4u + half1 / 2u], half1 % 2u);
      if (i < kHeldColumns * kDepthAlong) {
        const TWO_HALVES two = TO_HALVES(factors[i / kDepthAlong][half1 / 2u]);
        MATRIX_AT(right, i) = HALF_OF(two, half1 % 2u);
      }
    }
    const uint chain = part * kChains + step % kChains;
    sums[chain] = MULTIPLY_ADD(left, right, sums[chain]);
  }
}

void multiplyRound(uint own, uint round, uvec2 firstBlock[kHeldRows], inout float totals[kHeldRows]) {
  MATRIX_SUM sums[kSums];
  [[unroll]] for (uint i = 0u; i < kSums; ++i) sums[i] = MATRIX_SUM(0.0);
  [[unroll]] for (uint c = 0u; c < kAlong; ++c) {
    uint at[kHeldColumns];
    findFactors(own, c, at);
    uint zeroPoints[kRowParts];
    [[unroll]] for (uint i = 0u; i < kRowParts; ++i)
      zeroPoints[i] = zeroPointOf(own, round, c, i, firstBlock[i / PARTS]);
    [[unroll]] for (uint eight = 0u; eight < kEights; ++eight) multiplyEight(c, eight, at, zeroPoints, sums);
  }
  [[unroll]] for (uint c = 0u; c < kAlong; ++c)
    [[unroll]] for (uint i = 0u; i < kRowParts; ++i) {
      const uint element = i / PARTS * kAlong + c;
      float sum = 0.0;
      [[unroll]] for (uint chain = 0u; chain < kChains; ++chain)
        sum += MATRIX_AT(sums[i % PARTS * kChains + chain], element);
      totals[i / PARTS] += sum * scaleOf(own, round, c, i, firstBlock[i / PARTS]);
    }
}

void storeParts(uint own, uint at, float totals[kHeldRows]) {
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    [[unroll]] for (uint apart = 1u; apart < kSharing; apart *= 2u) totals[r] += subgroupShuffleXor(totals[r], apart);
    if (own % kSharing == 0u) parts[at + gl_SubgroupID * SIZE_ROWS + own / kSharing + kAcross * r] = totals[r];
  }
}

// Stores a column of y.
void finishColumn(uint lane, uint at, bool known, uint column, uvec2 first, uvec4 base, uint rawAddend) {
  const Column place = columnAt(column);
  const uint set = lane / kResults;
  const float sum = sumOf(at, known, set, 0u, lane % kResults, 0u, column, first);
  if (GATES != 0u)
    finishGate(sum, sumOf(at, known, set, 0u, lane % kResults, 1u, column, first), 0u, place, base);
  else
    finishWith(sum, 0u, place, base, fromRaw(rawAddend));
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
  const uint rounds = (push.depth + kRound - 1u) / kRound;
  const uint share = gl_SubgroupID % SHARES;
  uint columnGroup = group - pair * push.workgroups;
  uint firstB[kHeldRows];
  uvec2 firstBlock[kHeldRows];
  findColumns(own, columnGroup * kColumnsOfGroup + ofSet, first.y, firstB, firstBlock);
  if (kLooks) stagePlaces(lane);
  if (lane < kEights) staged[kZeros + lane] = uvec4(0u);
  barrier();
  const bool known = kLooks ? placesAreKnown(own) : PLACES == kKnown;
  load(own, first.x, firstB, firstBlock, share);  // later than that, or registers are short
  if (NORMALIZES != 0u) findRoots(lane, own, first.x);
  const uvec4 base = isOne ? uvec4(first, parameters[kMatrices].z, push.baseY) : walkOffsets(kMatrices, push.matrixRank, pair);
  uint partsAt = 0u;
  for (; columnGroup < push.columnGroups; columnGroup += push.workgroups) {
    float totals[kHeldRows];
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) totals[r] = 0.0;
    const uint column = lane < kColumnsOfGroup ? columnGroup * kColumnsOfGroup + lane : push.columns;
    uint rawAddend = 0u;
    if (GATES == 0u && hasAddend() && column < push.columns) rawAddend = loadRaw_addend(base.w + columnAt(column).y);
    for (uint round = share; round < rounds + share; round += SHARES) {
      stageA(own, round);
      SUBGROUP_BARRIER();
      multiplyRound(own, round, firstBlock, totals);
      uint next = round + SHARES;
      uint nextGroup = columnGroup;
      if (next >= rounds + share) {
        next = share;
        nextGroup += push.workgroups;
        findColumns(own, nextGroup * kColumnsOfGroup + ofSet, first.y, firstB, firstBlock);
      }
      if (nextGroup < push.columnGroups) load(own, first.x, firstB, firstBlock, next);
      SUBGROUP_BARRIER();
    }
    // The totals that were here before have been read: all have passed the barrier behind them.
    storeParts(own, partsAt, totals);
    barrier();
    if (column < push.columns) finishColumn(lane, partsAt, known, column, first, base, rawAddend);
    partsAt = kPartsOfSet - partsAt;
  }
}
