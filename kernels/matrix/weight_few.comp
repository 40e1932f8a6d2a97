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
//   GATES         gates.glsl; neighbouring columns of B then are rows of the two halves
//   PARTS         of a vector of weights that have a scale each
//   PLACES        0: places are taken as unknown, as if the device had chosen others; 1: the kernel looks at them; kKnown:
//                 the device has been seen to place them so
//   ZERO_POINTS   1: given, and not those of all (zeroAt)
//   NORMALIZES    rows of A are divided by the root of the mean of their squares and `epsilon` before they are multiplied;
//                 kWithFactor: and multiplied by a factor of each step of the depth. They are rounded as the node would
//                 have stored them. All workgroups do so, while weights come from memory.
//   workgroups    of a matrix: each takes every so-many-th of its columnGroups, and loads weights of the next one before
//                 it stores results, so that memory does not wait for workgroups to end and to begin
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y); 0: there is one, at the bases
// Strides and bases that all products need are push words: parameters are slow to come.
#define INTEGER_WEIGHTS 1
#define STRIDES_PUSHED 1
#define VECTOR 8
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
#include "matrix/cooperative.glsl"
#include "matrix/weight_halves.glsl"
const uint kKnown = 2u;
const bool kLooks = PLACES == 1u;
#include "matrix/known_places.glsl"
#extension GL_KHR_shader_subgroup_arithmetic : require

#if DIMPLE_REFLECT
#define HALF_OF(TWO, I) float(TWO)
#else
#define HALF_OF(TWO, I) TWO[I]
#endif

layout(set = 0, binding = BINDING_factor, std430) readonly buffer factorBuffer { uvec4 factor[]; };

const uint kWithFactor = 2u;
const uint kSubgroups = INVOCATIONS / SUBGROUP;
const uint kResults = GATES != 0u ? SIZE_ROWS / 2u : SIZE_ROWS;  // columns of y, of a matrix's rows
const uint kWeights = 128u / BITS;             // of a vector
const uint kChunk = kSharing * kWeights;       // steps
const uint kEights = kWeights / 8u;            // of a vector
const uint kAcross = SUBGROUP / kSharing;      // from one column of an invocation to the next
const uint kPasses = (ROWS + SIZE_COLUMNS - 1u) / SIZE_COLUMNS;
const uint kFactors = kPasses * kHeldColumns;  // rows of A that an invocation has elements of

// A subgroup's part of A, [row][chunk][eight of a vector][neighbour], and a vector of zeros.
const uint kOfRow = CHUNKS * kEights * kSharing;
const uint kOfA = ROWS * kOfRow;
const uint kStaged = kOfA + 1u;
shared uvec4 staged[kSubgroups * kStaged];
shared float parts[kSubgroups * ROWS * SIZE_ROWS];

// Sums of squares of rows of A, [row][subgroup], and what their elements are multiplied by.
const uint kSumsOfRow = NORMALIZES != 0u ? kSubgroups : 1u;
shared float squares[ROWS * kSumsOfRow];
shared float inverseRoots[ROWS];

const uint kItemsOfA = (kOfA + SUBGROUP - 1u) / SUBGROUP;
uvec4 ofA[kItemsOfA];
uvec4 ofFactor[kItemsOfA];
uvec4 vectors[CHUNKS * kHeldRows];
uint scaleWords[CHUNKS * kHeldRows * PARTS];
uint zeroWords[CHUNKS * kHeldRows * PARTS];

// The order in which weights of a word come out of it, in pairs.
uvec4 inOrder(uvec4 eight) {
  if (BITS == 4u)
    return uvec4(lowerHalves(eight.x, eight.z), upperHalves(eight.x, eight.z), lowerHalves(eight.y, eight.w),
                 upperHalves(eight.y, eight.w));
  return uvec4(lowerHalves(eight.x, eight.y), upperHalves(eight.x, eight.y), lowerHalves(eight.z, eight.w),
               upperHalves(eight.z, eight.w));
}

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

float squareOf(uvec4 eight) {
  const vec4 first = floatsOf(eight, 0u);
  const vec4 last = floatsOf(eight, 1u);
  return dot(first, first) + dot(last, last);
}

// What is behind the depth, or of rows that do not exist, counts as 0.
void findRoots(uint lane, uint own, uint base) {
  const uint kAtOnce = 2u;
  [[unroll]] for (uint row = 0u; row < ROWS; ++row) {
    float sum = 0.0;
    if (row < push.rows)
      for (uint k = lane * 8u; k < push.depth; k += kAtOnce * INVOCATIONS * 8u) {
        uvec4 loaded[kAtOnce];
        [[unroll]] for (uint i = 0u; i < kAtOnce; ++i) {
          const uint at = k + i * INVOCATIONS * 8u;
          loaded[i] = at < push.depth ? a[(base + row * push.aRow + at) / 8u] : uvec4(0u);
        }
        [[unroll]] for (uint i = 0u; i < kAtOnce; ++i) sum += squareOf(loaded[i]);
      }
    sum = subgroupAdd(sum);
    if (own == 0u) squares[row * kSumsOfRow + gl_SubgroupID % kSumsOfRow] = sum;
  }
  barrier();
  if (lane < ROWS) {
    float sum = 0.0;
    [[unroll]] for (uint i = 0u; i < kSumsOfRow; ++i) sum += squares[lane * kSumsOfRow + i];
    inverseRoots[lane] = 1.0 / sqrt(sum / float(push.depth) + uintBitsToFloat(push.epsilon));
  }
  barrier();
}

vec4 normalized(vec4 elements, float inverseRoot, vec4 factors) {
  const vec4 result = elements * inverseRoot;
  return NORMALIZES == kWithFactor ? result * factors : result;
}

// Eight elements of A as they are multiplied.
uvec4 asMultiplied(uvec4 eight, uint row, uvec4 factors) {
  if (NORMALIZES == 0u) return eight;
  const float inverseRoot = inverseRoots[min(row, ROWS - 1u)];
  const vec4 first = normalized(floatsOf(eight, 0u), inverseRoot, floatsOf(factors, 0u));
  const vec4 last = normalized(floatsOf(eight, 1u), inverseRoot, floatsOf(factors, 1u));
  return uvec4(halvesFromPair(first.xy), halvesFromPair(first.zw), halvesFromPair(last.xy), halvesFromPair(last.zw));
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

// Eight weights less their zero point, in the order of inOrder.
void eightOf(uvec4 vector, uint eight, uint zeroPoint, out TWO_HALVES pairs[4]) {
  const uint both = zeroPoint | (zeroPoint << 16u);
  const TWO_HALVES thousand = TO_HALVES(kThousand | both);
  if (BITS == 4u) {
    const TWO_HALVES sixtyFour = TO_HALVES(kSixtyFour | (both << 4u));
    const uint low = vector[eight];
    const uint high = low >> 8u;
    // Signs are bits of the weights alone.
    const uint ofThousand = kThousand | (push.signs & 0x000f000fu);
    const uint ofSixtyFour = kSixtyFour | (push.signs & 0x00f000f0u);
    pairs[0] = TO_HALVES((low & 0x000f000fu) ^ ofThousand) - thousand;
    pairs[1] = TO_HALVES((low & 0x00f000f0u) ^ ofSixtyFour) - sixtyFour;
    pairs[2] = TO_HALVES((high & 0x000f000fu) ^ ofThousand) - thousand;
    pairs[3] = TO_HALVES((high & 0x00f000f0u) ^ ofSixtyFour) - sixtyFour;
  } else {
    const uint ofThousand = kThousand | (push.signs & 0x00ff00ffu);
    [[unroll]] for (uint w = 0u; w < 2u; ++w) {
      const uint word = vector[eight * 2u + w];
      pairs[2u * w] = TO_HALVES((word & 0x00ff00ffu) ^ ofThousand) - thousand;
      pairs[2u * w + 1u] = TO_HALVES((word >> 8u & 0x00ff00ffu) ^ ofThousand) - thousand;
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

// Where the column of B lies that is a row of a matrix; `column`: the first one of y.
uint columnOfRow(uint column, uint row) {
  return GATES != 0u ? columnOfB(column + row / 2u, row % 2u) : columnOfB(column + row, 0u);
}

// What no device needs whose matrices lie as they are hoped to.
float sumAlone(uint row, uint column, uint baseA, uint baseB) {
  const uvec2 firstBlock = firstBlockOf(column);
  const uint firstB = baseB + column * push.bColumn;
  float sum = 0.0;
  for (uint k = 0u; k < push.depth; ++k) {
    const uvec2 block = blockAt(firstBlock, k);
    const uvec4 vector = b[(firstB + k) / kWeights];
    const uint word = vector[k % kWeights * BITS / 32u] ^ push.signs;
    const float weight = float(bitfieldExtract(word, int(k * BITS % 32u), int(BITS))) - zeroAt(block.y);
    const uint at = baseA + row * push.aRow + k;
    const uvec4 eight = asMultiplied(a[at / 8u], row, NORMALIZES == kWithFactor ? factor[k / 8u] : uvec4(0u));
    sum += floatsOf(eight, k / 4u % 2u)[k % 4u] * weight * scaleAt(block.x);
  }
  return sum;
}

// Of a column of y, the sum of one of its columns of B; `set`: of subgroups that share the depth.
float sumOf(bool known, uint set, uint row, uint result, uint half1, uint column, uvec2 base) {
  const uint ofMatrix = GATES != 0u ? result * 2u + half1 : result;
  if (!known) return sumAlone(row, columnOfB(column, half1), base.x, base.y);
  float sum = 0.0;
  [[unroll]] for (uint share = 0u; share < SHARES; ++share)
    sum += parts[((set * SHARES + share) * ROWS + row) * SIZE_ROWS + ofMatrix];
  return sum;
}

// The totals of subgroups, [subgroup][row][column].
void storeParts(uint own, MATRIX_SUM totals[kPasses]) {
  [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass)
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
      const uint row = pass * SIZE_COLUMNS + heldColumn(own, i);
      if (row < ROWS) parts[(gl_SubgroupID * ROWS + row) * SIZE_ROWS + heldRow(own, i)] = MATRIX_AT(totals[pass], i);
    }
}

// Where the columns of B begin that an invocation holds elements of; `column`: the first one of y.
void findColumns(uint own, uint column, uint baseB, out uint firstB[kHeldRows], out uvec2 firstBlock[kHeldRows]) {
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    const uint ofRow = columnOfRow(column, own / kSharing + kAcross * r);
    firstB[r] = baseB + ofRow * push.bColumn;
    firstBlock[r] = firstBlockOf(ofRow);
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
  const uint columnsOfGroup = kSubgroups / SHARES * kResults;
  const uint ofSet = gl_SubgroupID / SHARES * kResults;
  const uint chunks = (push.depth + kChunk - 1u) / kChunk;
  const uint at = gl_SubgroupID * kStaged;
  const uint ofShare = gl_SubgroupID % SHARES * CHUNKS;
  uint columnGroup = group - pair * push.workgroups;
  uint firstB[kHeldRows];
  uvec2 firstBlock[kHeldRows];
  findColumns(own, columnGroup * columnsOfGroup + ofSet, first.y, firstB, firstBlock);
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
        findColumns(own, nextGroup * columnsOfGroup + ofSet, first.y, firstB, firstBlock);
      }
      if (nextGroup < push.columnGroups) load(own, first.x, firstB, firstBlock, next + ofShare);
      SUBGROUP_BARRIER();
    }
    barrier();  // what the last sums are made of has been read
    storeParts(own, totals);
    barrier();
    const uint firstColumn = columnGroup * columnsOfGroup;
    [[dont_unroll]] for (uint item = lane; item < columnsOfGroup * push.rows; item += INVOCATIONS) {
      const uint result = item % kResults;
      const uint set = item / kResults % (kSubgroups / SHARES);
      const uint row = item / (kResults * (kSubgroups / SHARES));
      const uint resultColumn = firstColumn + set * kResults + result;
      if (resultColumn < push.columns) {
        const Column place = columnAt(resultColumn);
        const float sum = sumOf(known, set, row, result, 0u, resultColumn, first);
        if (GATES != 0u)
          finishGate(sum, sumOf(known, set, row, result, 1u, resultColumn, first), row, place, base);
        else
          finish(sum, pair, row, resultColumn, place, base);
      }
    }
  }
}
