#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Attention by matrices that a subgroup's invocations hold together: a workgroup takes the queries of a tile past all
// keys of their head once, KEYS at a time. Each subgroup keeps SIZE_ROWS queries, and the weighted sums of values at
// them, in matrices of its own; keys and values lie in shared memory, and while one part of them is multiplied the next
// is on its way.
//
// Which invocation holds which element of a matrix is the device's choice, and looked up at the start
// (matrix_places.glsl). Where it is the one that is hoped for, the maxima of rows and the weights stay in registers;
// elsewhere they pass through shared memory (matrix_weights.glsl). A weight is 2^(score - reference), the reference of
// a row lying below its largest score so far. It is multiplied as the sum of two FLOAT16, which is about as precise as
// FLOAT32.
#include "attention/scores.glsl"

layout(set = 0, binding = BINDING_y, std430) buffer yVectorBuffer { uvec4 yVectors[]; };

// KEY_SIZE, VALUE_SIZE: channels of query and key, and of the value, filled up to whole matrices.
// SUBGROUP: invocations of a subgroup. SIZE_COLUMNS is SIZE_DEPTH: a matrix of scores becomes a factor, of weights.
// READS: what is read or written eight elements at a time, kQueryVectors and so on.
// PLAIN: 1: a score is a scaled product and nothing else.
// INVOCATIONS: of a workgroup.
// PLACES: 1: weights stay in registers if the device's matrices allow it; the scale is positive.

#include "matrix/cooperative.glsl"

const uint kQueryVectors = 1u;
const uint kKeyVectors = 2u;
const uint kValueVectors = 4u;
const uint kOutputVectors = 8u;
const uint kWholeMatrices = 16u;  // channels fill matrices

const uint kSubgroups = INVOCATIONS / SUBGROUP;
const uint kRows = kSubgroups * SIZE_ROWS;
const uint kDepthMatrices = KEY_SIZE / SIZE_DEPTH;
const uint kKeyMatrices = KEYS / SIZE_COLUMNS;
const uint kValueMatrices = VALUE_SIZE / SIZE_COLUMNS;

// Lines in shared memory, in vectors of eight FLOAT16 or four FLOAT32, one apart so that neighbours lie in different
// banks.
const uint kPitchK = KEY_SIZE / 8u + 1u;
const uint kPitchV = VALUE_SIZE / 8u + 1u;
const uint kPitchSums = SIZE_COLUMNS / 4u + 1u;
const uint kWeights = KEYS < 32u ? KEYS : 32u;  // keys whose weights pass through shared memory at a time
const uint kPitchWeights = kWeights / 8u + 1u;
const uint kWeightMatrices = kWeights / SIZE_COLUMNS;
const uint kChannels = kRows > 128u ? 32u : 64u;  // of queries that do
const uint kPitchQ = kChannels / 8u + 1u;

// Keys, values, a place of each subgroup's own, and the values of its rows.
const uint kValuesAt = KEYS * kPitchK;
const uint kPlacesAt = kValuesAt + KEYS * kPitchV;
const uint kPlace = SIZE_ROWS * (kPitchSums > kPitchWeights ? kPitchSums : kPitchWeights);
const uint kRowsAt = kPlacesAt + kSubgroups * kPlace;
const uint kShared = kRowsAt + kRows / 2u;
shared uvec4 staged[kShared > kRows * kPitchQ ? kShared : kRows * kPitchQ];

// How far, in powers of two, a reference lies below: the largest weight is near the largest FLOAT16, so that small ones
// are no denormals.
const float kLift = 15.0;
const float kLog2E = 1.44269504;
const uint kLowest = 0xff800000u;

#include "attention/matrix_loads.glsl"

uint placeOf(uint subgroup) { return kPlacesAt + subgroup * kPlace; }

// References, and behind them what sums are multiplied with, of a subgroup's rows; four in a vector.
uint referencesOf(uint subgroup) { return kRowsAt + subgroup * (SIZE_ROWS / 2u); }

// Returns four numbers of a line of a matrix in shared memory.
vec4 fourOf(uint line, uint i) { return uintBitsToFloat(staged[line + i]); }

#include "attention/matrix_places.glsl"

// What a subgroup keeps. The tops are of the rows that the invocation holds elements of, or looks after: each
// SUBGROUP-th.
const uint kLooked = (SIZE_ROWS + SUBGROUP - 1u) / SUBGROUP;
MATRIX_A queries[kDepthMatrices];
MATRIX_SUM scores[kKeyMatrices];
MATRIX_SUM results[kValueMatrices];
float tops[kLooked > kHeldRows ? kLooked : kHeldRows];
float totals[tops.length()];  // of weights

#include "attention/matrix_weights.glsl"

void loadQueries(uint lane, uint batch, uint head, uint firstQuery) {
  const uint kPlainVectors = kQueryVectors | kWholeMatrices;
  if ((READS & kPlainVectors) == kPlainVectors && (push.flags & kHasBias) == 0u &&
      firstQuery + kRows <= push.queries) {
    const uvec3 at = uvec3(batch, head, firstQuery + gl_SubgroupID * SIZE_ROWS) * parameters[0].xyz;
    const uint first = (parameters[6].x + at.x + at.y + at.z) / 8u;
    [[unroll]] for (uint k = 0u; k < kDepthMatrices; ++k)
      LOAD_ROWS(queries[k], qVectors, first + k * SIZE_DEPTH / 8u, parameters[0].z / 8u);
    return;
  }
  [[unroll]] for (uint first = 0u; first < KEY_SIZE; first += kChannels) {
    const uint kItems = kRows * kChannels / 8u;
    if ((READS & kQueryVectors) != 0u && (push.flags & kHasBias) == 0u) {
      [[unroll]] for (uint n = 0u; n < kItems; n += INVOCATIONS) {
        const uint row = (n + lane) / (kChannels / 8u);
        const uint vector = (n + lane) % (kChannels / 8u);
        staged[row * kPitchQ + vector] = loadQueryVector(batch, head, firstQuery + row, first + vector * 8u);
      }
    } else {
      // One copy, which is much code: the zero above the flags keeps NVIDIA's compiler from unrolling.
      [[dont_unroll]] for (uint n = 0u; n < kItems + (push.flags >> 16u); n += INVOCATIONS) {
        const uint row = (n + lane) / (kChannels / 8u);
        const uint vector = (n + lane) % (kChannels / 8u);
        staged[row * kPitchQ + vector] = loadQueryElements(batch, head, firstQuery + row, first + vector * 8u);
      }
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < kChannels / SIZE_DEPTH; ++k)
      if (first / SIZE_DEPTH + k < kDepthMatrices)
        LOAD_ROWS(queries[min(first / SIZE_DEPTH + k, kDepthMatrices - 1u)], staged,
                  gl_SubgroupID * SIZE_ROWS * kPitchQ + k * SIZE_DEPTH / 8u, kPitchQ);
    barrier();
  }
}

// Lets a line of `place` hold eight channels each of a row of weighted sums, from `channel` on.
void storeResults(uint place, uint own, uint batch, uint head, uint firstQuery, uint channel, uint channels) {
  for (uint item = own; item < SIZE_ROWS * channels / 8u; item += SUBGROUP) {
    const uint query = firstQuery + item / (channels / 8u);
    const uint first = channel + item % (channels / 8u) * 8u;
    const uvec4 eight = staged[place + item / (channels / 8u) * kPitchWeights + item % (channels / 8u)];
    if (query >= push.queries || first >= push.valueSize) continue;
    const uvec4 at = uvec4(batch, head, query, first) * parameters[3];
    if ((READS & kOutputVectors) != 0u) {
      yVectors[(at.x + at.y + at.z + first) / 8u] = eight;
    } else {
      [[unroll]] for (uint i = 0u; i < 8u; ++i)
        if (first + i < push.valueSize)
          storeRaw_y(at.x + at.y + at.z + (first + i) * parameters[3].w, eight[i / 2u] >> (i % 2u * 16u) & 0xffffu);
    }
  }
}

// Divides the weighted sums by the rows' sums of weights.
void finish(uint place, uint references, uint own, uint batch, uint head, uint firstQuery, bool inPlace) {
  const uint kTogether = kWeightMatrices < kValueMatrices ? kWeightMatrices : kValueMatrices;
  storeShares(references, own, inPlace);
  MATRIX_SUM share;
  // Columns that are all the same: they lie no elements apart.
  LOAD_COLUMNS(share, staged, references, 0u);
  // A loop that is too long to be unrolled would keep the matrices in memory and not in registers.
  [[dont_unroll]] for (uint first = 0u; first < kValueMatrices; first += kTogether) {
    [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c)
      if (c / kTogether * kTogether == first) {
        MATRIX_SUM rounded = results[c] * share;
        [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(rounded); ++i)
          MATRIX_AT(rounded, i) = floatFromHalf(toRaw(MATRIX_AT(rounded, i)));
        const MATRIX_HALVES stored = MATRIX_HALVES(rounded);
        STORE_ROWS(stored, staged, place + c % kTogether * SIZE_COLUMNS / 8u, kPitchWeights);
      }
    SUBGROUP_BARRIER();
    storeResults(place, own, batch, head, firstQuery, first * SIZE_COLUMNS, kTogether * SIZE_COLUMNS);
    SUBGROUP_BARRIER();
  }
}

// All keys and values, of which the first are stored. One loop for both ways: two are a seventh more to compile.
void takeKeys(bool inPlace, uint batch, uint head, uint firstQuery, uint keyBase, uint valueBase) {
  const uint lane = gl_LocalInvocationID.x;
  const uint own = gl_SubgroupInvocationID;
  const uint place = placeOf(gl_SubgroupID);
  const uint references = referencesOf(gl_SubgroupID);
  for (uint first = 0u; first < push.keys; first += KEYS) {
    // Without a condition, loads overlap with all around them: the last part is loaded twice.
    const uint next = first + KEYS < push.keys ? first + KEYS : first;
    loadKeys(lane, keyBase, next);
    multiplyKeys();
    barrier();
    storeKeys(lane);
    loadValues(lane, valueBase, next);
    if (!inPlace || PLAIN == 0u) finishScores(inPlace, place, own, batch, head, firstQuery, first);
    if (inPlace) {
      weighInPlace();
      addInPlace();
    } else {
      weighByRows(place, references, own);
      addThrough(place);
    }
    barrier();
    storeValues(lane, next);
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint queryTiles = (push.queries + kRows - 1u) / kRows;
  const uint tileQuery = group % queryTiles * kRows;
  const uint head = group / queryTiles % push.heads;
  const uint batch = group / queryTiles / push.heads;
  const uvec2 keyAt = uvec2(batch, head / push.headsPerKey) * parameters[1].xy;
  const uvec2 valueAt = uvec2(batch, head / push.headsPerKey) * parameters[2].xy;
  const uint keyBase = parameters[6].y + keyAt.x + keyAt.y;
  const uint valueBase = parameters[6].z + valueAt.x + valueAt.y;

  const uint own = gl_SubgroupInvocationID;
  const uint firstQuery = tileQuery + gl_SubgroupID * SIZE_ROWS;
  const uint place = placeOf(gl_SubgroupID);

  loadKeys(lane, keyBase, 0u);
  loadValues(lane, valueBase, 0u);
  loadQueries(lane, batch, head, tileQuery);
  const bool inPlace = PLACES != 0u && placesAreKnown(own, place);
  storeKeys(lane);
  storeValues(lane, 0u);
  barrier();

  [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) results[c] = MATRIX_SUM(0.0);
  [[unroll]] for (uint n = 0u; n < tops.length(); ++n) {
    tops[n] = uintBitsToFloat(kLowest);
    totals[n] = 0.0;
  }

  takeKeys(inPlace, batch, head, firstQuery, keyBase, valueBase);
  if (inPlace) leaveOut(own, (push.keys - 1u) % KEYS + 1u);
  finish(place, referencesOf(gl_SubgroupID), own, batch, head, firstQuery, inPlace);
}
