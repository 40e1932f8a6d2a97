#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Attention by matrices that a subgroup's invocations hold together: a workgroup takes the queries of a tile past all
// keys of their head once, KEYS at a time. Each subgroup keeps SIZE queries, and the weighted sums of values at them, in
// matrices of its own; keys and values lie in shared memory, and while one part of them is multiplied the next is on
// its way.
//
// Which invocation holds which element of a matrix is unknown, but is the same for all matrices of a type: what is done
// to elements alone is done where they are, and the maxima of rows and the weights pass through shared memory. A weight
// is 2^(score - reference), the reference of a row lying below its largest score so far. It is multiplied as the sum of
// two FLOAT16, which is about as precise as FLOAT32.
#include "attention/scores.glsl"

layout(set = 0, binding = BINDING_q, std430) readonly buffer qVectorBuffer { uvec4 qVectors[]; };
layout(set = 0, binding = BINDING_k, std430) readonly buffer kVectorBuffer { uvec4 kVectors[]; };
layout(set = 0, binding = BINDING_v, std430) readonly buffer vVectorBuffer { uvec4 vVectors[]; };

// KEY_SIZE, VALUE_SIZE: channels of query and key, and of the value: multiples of SIZE that are not less.
// SUBGROUP, SIZE: invocations of a subgroup, rows and columns of the matrices that it holds.
// READS: what is read eight elements at a time, kQueryVectors and so on.
// PLAIN: 1: a score is a scaled product and nothing else.

#include "matrix/cooperative.glsl"

const uint kQueryVectors = 1u;
const uint kKeyVectors = 2u;
const uint kValueVectors = 4u;

const uint kSubgroups = 256u / SUBGROUP;
const uint kRows = kSubgroups * SIZE;
const uint kDepthMatrices = KEY_SIZE / SIZE;
const uint kKeyMatrices = KEYS / SIZE;
const uint kValueMatrices = VALUE_SIZE / SIZE;

// Lines in shared memory, in vectors of eight FLOAT16 or four FLOAT32, one apart so that neighbours lie in different
// banks.
const uint kPitchK = KEY_SIZE / 8u + 1u;
const uint kPitchV = VALUE_SIZE / 8u + 1u;
const uint kPitchSums = SIZE / 4u + 1u;
const uint kWeights = KEYS < 32u ? KEYS : 32u;  // keys whose weights pass through shared memory at a time
const uint kPitchWeights = kWeights / 8u + 1u;
const uint kWeightMatrices = kWeights / SIZE;
const uint kChannels = kRows > 128u ? 32u : 64u;  // of queries that do
const uint kPitchQ = kChannels / 8u + 1u;

// Keys, values, a place of each subgroup's own, and the values of its rows.
const uint kValuesAt = KEYS * kPitchK;
const uint kPlacesAt = kValuesAt + KEYS * kPitchV;
const uint kPlace = SIZE * (kPitchSums > kPitchWeights ? kPitchSums : kPitchWeights);
const uint kRowsAt = kPlacesAt + kSubgroups * kPlace;
const uint kShared = kRowsAt + kRows / 2u;
shared uvec4 staged[kShared > kRows * kPitchQ ? kShared : kRows * kPitchQ];

const uint kItemsK = KEYS * KEY_SIZE / 8u;
const uint kItemsV = KEYS * VALUE_SIZE / 8u;
const uint kLoadsK = (kItemsK + 255u) / 256u;
const uint kLoadsV = (kItemsV + 255u) / 256u;
uvec4 loadedK[kLoadsK];
uvec4 loadedV[kLoadsV];

// How far, in powers of two, a reference lies below: the largest weight is near the largest FLOAT16, so that small ones
// are no denormals.
const float kLift = 15.0;
const float kLog2E = 1.44269504;
const uint kLowest = 0xff800000u;

uvec4 eightOf(uint raws[8]) {
  return uvec4(raws[0] | raws[1] << 16, raws[2] | raws[3] << 16, raws[4] | raws[5] << 16, raws[6] | raws[7] << 16);
}

uvec4 loadQ8(uint batch, uint head, uint query, uint channel) {
  if (query >= push.queries) return uvec4(0u);
  if ((READS & kQueryVectors) != 0u && (push.flags & kHasBias) == 0u) {
    const uvec4 at = uvec4(batch, head, query, channel) * parameters[0];
    return channel < push.keySize ? qVectors[(parameters[6].x + at.x + at.y + at.z + channel) / 8u] : uvec4(0u);
  }
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i)
    raws[i] = channel + i < push.keySize ? toRaw(atQuery(batch, head, query, channel + i)) & 0xffffu : 0u;
  return eightOf(raws);
}

// Single elements outside are loaded from others and then made zeros: such loads overlap.
void loadKeys(uint lane, uint base, uint first) {
  const uvec2 stride = parameters[1].zw;
  [[unroll]] for (uint n = 0u; n < kLoadsK; ++n) {
    const uint item = lane + n * 256u;
    const uint key = first + item / (KEY_SIZE / 8u);
    const uint channel = item % (KEY_SIZE / 8u) * 8u;
    const bool inside = key < push.keys && (kItemsK % 256u == 0u || item < kItemsK);
    if ((READS & kKeyVectors) != 0u) {
      loadedK[n] = inside && channel < push.keySize ? kVectors[(base + key * stride.x + channel) / 8u] : uvec4(0u);
    } else {
      uint raws[8];
      [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const bool exists = inside && channel + i < push.keySize;
        raws[i] = loadRaw_k(exists ? base + key * stride.x + (channel + i) * stride.y : base);
        raws[i] = exists ? raws[i] : 0u;
      }
      loadedK[n] = eightOf(raws);
    }
  }
}

void loadValues(uint lane, uint base, uint first) {
  const uvec2 stride = parameters[2].zw;
  [[unroll]] for (uint n = 0u; n < kLoadsV; ++n) {
    const uint item = lane + n * 256u;
    const uint key = first + item / (VALUE_SIZE / 8u);
    const uint channel = item % (VALUE_SIZE / 8u) * 8u;
    const bool inside = key < push.keys && (kItemsV % 256u == 0u || item < kItemsV);
    if ((READS & kValueVectors) != 0u) {
      loadedV[n] = inside && channel < push.valueSize ? vVectors[(base + key * stride.x + channel) / 8u] : uvec4(0u);
    } else {
      uint raws[8];
      [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const bool exists = inside && channel + i < push.valueSize;
        raws[i] = loadRaw_v(exists ? base + key * stride.x + (channel + i) * stride.y : base);
        raws[i] = exists ? raws[i] : 0u;
      }
      loadedV[n] = eightOf(raws);
    }
  }
}

void storeKeys(uint lane) {
  [[unroll]] for (uint n = 0u; n < kLoadsK; ++n) {
    const uint item = lane + n * 256u;
    if (kItemsK % 256u == 0u || item < kItemsK)
      staged[item / (KEY_SIZE / 8u) * kPitchK + item % (KEY_SIZE / 8u)] = loadedK[n];
  }
}

void storeValues(uint lane) {
  [[unroll]] for (uint n = 0u; n < kLoadsV; ++n) {
    const uint item = lane + n * 256u;
    if (kItemsV % 256u == 0u || item < kItemsV)
      staged[kValuesAt + item / (VALUE_SIZE / 8u) * kPitchV + item % (VALUE_SIZE / 8u)] = loadedV[n];
  }
}

// Of a line of a matrix in shared memory.
vec4 fourOf(uint line, uint i) { return uintBitsToFloat(staged[line + i]); }

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint queryTiles = (push.queries + kRows - 1u) / kRows;
  const uint firstQuery = group % queryTiles * kRows;
  const uint head = group / queryTiles % push.heads;
  const uint batch = group / queryTiles / push.heads;
  const uvec2 keyAt = uvec2(batch, head / push.headsPerKey) * parameters[1].xy;
  const uvec2 valueAt = uvec2(batch, head / push.headsPerKey) * parameters[2].xy;
  const uint keyBase = parameters[6].y + keyAt.x + keyAt.y;
  const uint valueBase = parameters[6].z + valueAt.x + valueAt.y;

  const uint subgroup = gl_SubgroupID;
  const uint own = gl_SubgroupInvocationID;
  const uint firstRow = subgroup * SIZE;
  const bool works = firstQuery + firstRow < push.queries;
  const uint place = kPlacesAt + subgroup * kPlace;
  // References, and what sums are multiplied with, of the subgroup's rows; four in a vector.
  const uint references = kRowsAt + subgroup * (SIZE / 2u);
  const uint shrinks = references + SIZE / 4u;

  loadKeys(lane, keyBase, 0u);
  loadValues(lane, valueBase, 0u);
  MATRIX_A queries[kDepthMatrices];
  [[unroll]] for (uint first = 0u; first < KEY_SIZE; first += kChannels) {
    [[unroll]] for (uint n = 0u; n < kRows * kChannels / 8u; n += 256u) {
      const uint row = (n + lane) / (kChannels / 8u);
      const uint vector = (n + lane) % (kChannels / 8u);
      staged[row * kPitchQ + vector] = loadQ8(batch, head, firstQuery + row, first + vector * 8u);
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < kChannels / SIZE; ++k)
      if (first / SIZE + k < kDepthMatrices)
        LOAD_ROWS(queries[min(first / SIZE + k, kDepthMatrices - 1u)], staged, firstRow * kPitchQ + k * SIZE / 8u,
                  kPitchQ);
    barrier();
  }
  storeKeys(lane);
  storeValues(lane);
  barrier();

  MATRIX_SUM results[kValueMatrices];
  [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) results[c] = MATRIX_SUM(0.0);
  MATRIX_SUM totals = MATRIX_SUM(0.0);  // of weights, not yet summed across
  const float lowest = uintBitsToFloat(kLowest);
  // Of the rows that the invocation looks after: each SUBGROUP-th.
  const uint kLooked = (SIZE + SUBGROUP - 1u) / SUBGROUP;
  float tops[kLooked];
  [[unroll]] for (uint n = 0u; n < kLooked; ++n) tops[n] = lowest;
  const float factor = uintBitsToFloat(push.scale) * kLog2E;

  for (uint first = 0u; first < push.keys; first += KEYS) {
    const uint next = first + KEYS;
    if (next < push.keys) loadKeys(lane, keyBase, next);

    MATRIX_SUM scores[kKeyMatrices];
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) scores[j] = MATRIX_SUM(0.0);
    if (works) {
      [[unroll]] for (uint k = 0u; k < kDepthMatrices; ++k)
        [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) {
          MATRIX_B keys;
          LOAD_COLUMNS(keys, staged, j * SIZE * kPitchK + k * SIZE / 8u, kPitchK);
          scores[j] = MULTIPLY_ADD(queries[k], keys, scores[j]);
        }
    }

    // In units of powers of two.
    if (PLAIN != 0u && next <= push.keys) {
      [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) scores[j] = scores[j] * factor;
    } else {
      [[dont_unroll]] for (uint i = 0u; i < kKeyMatrices; ++i) {
        [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
          if (i == j) STORE_ROWS(scores[j], staged, place, kPitchSums);
        SUBGROUP_BARRIER();
        [[dont_unroll]] for (uint element = own; element < SIZE * SIZE; element += SUBGROUP) {
          const uint key = first + i * SIZE + element % SIZE;
          const uint query = firstQuery + firstRow + element / SIZE;
          const uint at = place + element / SIZE * kPitchSums + element % SIZE / 4u;
          const float product = uintBitsToFloat(staged[at][element % 4u]);
          float score = lowest;
          if (key < push.keys && query < push.queries)
            score = PLAIN != 0u ? product * factor : scoreFrom(product, batch, head, query, key) * kLog2E;
          staged[at][element % 4u] = floatBitsToUint(score);
        }
        SUBGROUP_BARRIER();
        [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j)
          if (i == j) LOAD_ROWS(scores[j], staged, place, kPitchSums);
        SUBGROUP_BARRIER();
      }
    }

    MATRIX_SUM largest = scores[0];
    [[unroll]] for (uint j = 1u; j < kKeyMatrices; ++j)
      [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(largest); ++i)
        MATRIX_AT(largest, i) = max(MATRIX_AT(largest, i), MATRIX_AT(scores[j], i));
    STORE_ROWS(largest, staged, place, kPitchSums);
    SUBGROUP_BARRIER();
    [[unroll]] for (uint n = 0u; n < kLooked; ++n) {
      const uint row = own + n * SUBGROUP;
      if (row < SIZE) {
        vec4 four = fourOf(place + row * kPitchSums, 0u);
        [[unroll]] for (uint i = 1u; i < SIZE / 4u; ++i) four = max(four, fourOf(place + row * kPitchSums, i));
        const float top = max(max(max(four.x, four.y), max(four.z, four.w)), tops[n]);
        // Infinities of the same sign have no difference.
        const float shrink = tops[n] == top ? 1.0 : exp2(tops[n] - top);
        tops[n] = top;
        // The weights of a row whose scores are all -infinity are 0.
        const float reference = top == lowest ? 0.0 : top - kLift;
        staged[references + row / 4u][row % 4u] = floatBitsToUint(reference);
        staged[shrinks + row / 4u][row % 4u] = floatBitsToUint(shrink);
      }
    }
    SUBGROUP_BARRIER();
    // Columns that are all the same: they lie no elements apart.
    MATRIX_SUM shrink;
    LOAD_COLUMNS(shrink, staged, shrinks, 0u);
    totals = totals * shrink;
    [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) results[c] = results[c] * shrink;
    MATRIX_SUM reference;
    LOAD_COLUMNS(reference, staged, references, 0u);
    [[unroll]] for (uint j = 0u; j < kKeyMatrices; ++j) {
      scores[j] = scores[j] - reference;
      [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(scores[j]); ++i)
        MATRIX_AT(scores[j], i) = exp2(MATRIX_AT(scores[j], i));
      totals = totals + scores[j];
    }

    barrier();
    if (next < push.keys) {
      storeKeys(lane);
      loadValues(lane, valueBase, next);
    }
    [[unroll]] for (uint part = 0u; part < kKeyMatrices; part += kWeightMatrices) {
      // Weights cut to FLOAT16, and what is left of them.
      MATRIX_A weights[2u * kWeightMatrices];
      [[unroll]] for (uint rest = 0u; rest < 2u; ++rest) {
        if (part + rest != 0u) SUBGROUP_BARRIER();
        [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j) {
          // By bits: compilers take a conversion to FLOAT16 and back for the number itself.
          MATRIX_SUM halves = scores[part + j];
          if (rest == 0u)
            [[unroll]] for (uint i = 0u; i < MATRIX_LENGTH(halves); ++i)
              MATRIX_AT(halves, i) = uintBitsToFloat(floatBitsToUint(MATRIX_AT(halves, i)) & 0xffffe000u);
          const MATRIX_HALVES stored = MATRIX_HALVES(halves);
          STORE_ROWS(stored, staged, place + j * SIZE / 8u, kPitchWeights);
          scores[part + j] = scores[part + j] - halves;
        }
        SUBGROUP_BARRIER();
        [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j)
          LOAD_ROWS(weights[rest * kWeightMatrices + j], staged, place + j * SIZE / 8u, kPitchWeights);
      }
      if (works) {
        [[unroll]] for (uint j = 0u; j < kWeightMatrices; ++j)
          [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c) {
            MATRIX_B values;
            LOAD_ROWS(values, staged, kValuesAt + (part + j) * SIZE * kPitchV + c * SIZE / 8u, kPitchV);
            results[c] = MULTIPLY_ADD(weights[j], values, results[c]);
            results[c] = MULTIPLY_ADD(weights[kWeightMatrices + j], values, results[c]);
          }
      }
    }
    barrier();
    if (next < push.keys) storeValues(lane);
  }

  STORE_ROWS(totals, staged, place, kPitchSums);
  SUBGROUP_BARRIER();
  [[unroll]] for (uint n = 0u; n < kLooked; ++n) {
    const uint row = own + n * SUBGROUP;
    if (row < SIZE) {
      vec4 four = fourOf(place + row * kPitchSums, 0u);
      [[unroll]] for (uint i = 1u; i < SIZE / 4u; ++i) four += fourOf(place + row * kPitchSums, i);
      // The differences to an infinity are NaN, at one key at least.
      const bool undefined = (floatBitsToUint(tops[n]) & 0x7f800000u) == 0x7f800000u;
      const float share = undefined ? uintBitsToFloat(0x7fc00000u) : 1.0 / ((four.x + four.y) + (four.z + four.w));
      staged[references + row / 4u][row % 4u] = floatBitsToUint(share);
    }
  }
  SUBGROUP_BARRIER();
  // A loop that is too long to be unrolled would keep the matrices in memory and not in registers.
  [[dont_unroll]] for (uint i = 0u; i < kValueMatrices; ++i) {
    [[unroll]] for (uint c = 0u; c < kValueMatrices; ++c)
      if (i == c) STORE_ROWS(results[c], staged, place, kPitchSums);
    SUBGROUP_BARRIER();
    [[dont_unroll]] for (uint element = own; element < SIZE * SIZE; element += SUBGROUP) {
      const uint row = element / SIZE;
      const uint query = firstQuery + firstRow + row;
      const uint channel = i * SIZE + element % SIZE;
      if (query < push.queries && channel < push.valueSize) {
        const float sum = fourOf(place + row * kPitchSums, element % SIZE / 4u)[element % 4u];
        const float share = fourOf(references, row / 4u)[row % 4u];
        const uvec4 at = uvec4(batch, head, query, channel) * parameters[3];
        storeRaw_y(at.x + at.y + at.z + at.w, toRaw(sum * share));
      }
    }
    SUBGROUP_BARRIER();
  }
}
