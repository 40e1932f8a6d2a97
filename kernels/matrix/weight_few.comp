#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What weight_rows.comp computes, of at most ROWS rows of FLOAT16, by matrices whose elements invocations set one by
// one: weights pass from memory through registers alone. SHARES subgroups share the depth of SIZE_ROWS columns.
//
// The columns of B are rows of the factor on the left. Of a chunk of the depth, each of kSharing neighbours loads a
// vector of weights of the columns that it holds elements of, so that which steps of the depth meet in a multiplication
// differs from one neighbour to the next. The factor on the right has a column for each row of A and each of these
// neighbours, with zeros but for the steps of that neighbour: the sums of the vectors of weights, each of which has a
// scale of its own, stay apart.
//   CHUNKS        that are on their way at once
//   GATES         gates.glsl; neighbouring columns of B then are rows of the two halves
//   PARTS         of a vector of weights that have a scale each
//   PAIRED        1: the scales of neighbouring vectors lie side by side in a word
//   ZERO_POINTS   1: given, and not those of all (zeroAt)
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define INTEGER_WEIGHTS 1
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
#include "matrix/places.glsl"
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require

#if DIMPLE_REFLECT
#define HALF_OF(TWO, I) float(TWO)
#else
#define HALF_OF(TWO, I) TWO[I]
#endif

const uint kSubgroups = 256u / SUBGROUP;
const uint kResults = GATES != 0u ? SIZE_ROWS / 2u : SIZE_ROWS;  // columns of y, of a matrix's rows
const uint kWeights = 128u / BITS;             // of a vector
const uint kChunk = kSharing * kWeights;       // steps
const uint kEights = kWeights / 8u;            // of a vector
const uint kAcross = SUBGROUP / kSharing;      // from one column of an invocation to the next
const uint kRowsOfMatrix = SIZE_COLUMNS / kSharing;
const uint kPasses = (ROWS + kRowsOfMatrix - 1u) / kRowsOfMatrix;
const uint kTurns = kAlong / kPair;            // rows of A that an invocation has sums of, of a matrix
const bool kPaired = PAIRED != 0u && kPair == 2u;
const uint kSums = kPasses * kTurns * kHeldRows;

// A subgroup's part of A, [row][chunk][eight of a vector][neighbour], and a vector of zeros.
const uint kOfRow = CHUNKS * kEights * kSharing;
const uint kStaged = ROWS * kOfRow + 1u;
shared uvec4 staged[kSubgroups * kStaged];
shared float parts[kSubgroups * ROWS * SIZE_ROWS];
// The places of a matrix, as FLOAT16 and as FLOAT32.
const uint kPlaces = SIZE_ROWS * SIZE_COLUMNS;
shared uvec4 places[kPlaces / 8u + kPlaces / 4u];

uvec4 vectors[CHUNKS * kHeldRows];
uint scaleWords[CHUNKS * kHeldRows * PARTS * kPair];
uint zeroWords[CHUNKS * kHeldRows * PARTS];

void stagePlaces(uint lane) {
  for (uint four = lane; four < kPlaces / 4u; four += 256u) {
    const vec4 numbers = float(four) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0);
    const uvec2 halves = uvec2(packHalf2x16(numbers.xy), packHalf2x16(numbers.zw));
    if (four % 2u == 0u)
      places[four / 2u].xy = halves;
    else
      places[four / 2u].zw = halves;
    places[kPlaces / 8u + four] = floatBitsToUint(numbers);
  }
}

// Whether factors and sums lie as places.glsl has it, the factor on the right with rows for columns.
bool placesAreKnown(uint own) {
  MATRIX_A left;
  MATRIX_B right;
  MATRIX_SUM sums;
  LOAD_ROWS(left, places, 0u, SIZE_DEPTH / 8u);
  LOAD_ROWS(right, places, 0u, SIZE_COLUMNS / 8u);
  LOAD_ROWS(sums, places, kPlaces / 8u, SIZE_COLUMNS / 4u);
  const uint held = kHeldRows * kAlong;
  bool known = MATRIX_LENGTH(left) == held && MATRIX_LENGTH(right) == held && MATRIX_LENGTH(sums) == held;
  [[unroll]] for (uint i = 0u; i < held; ++i) {
    const uint row = heldRow(own, i);
    const uint column = heldColumn(own, i);
    known = known && float(MATRIX_AT(left, i)) == float(row * SIZE_DEPTH + column) &&
            float(MATRIX_AT(right, i)) == float(column * SIZE_COLUMNS + row) &&
            MATRIX_AT(sums, i) == float(row * SIZE_COLUMNS + column);
  }
  return subgroupAll(known);
}

// The order in which weights of a word come out of it, in pairs.
uvec4 inOrder(uvec4 eight) {
  if (BITS == 4u)
    return uvec4(lowerHalves(eight.x, eight.z), upperHalves(eight.x, eight.z), lowerHalves(eight.y, eight.w),
                 upperHalves(eight.y, eight.w));
  return uvec4(lowerHalves(eight.x, eight.y), upperHalves(eight.x, eight.y), lowerHalves(eight.z, eight.w),
               upperHalves(eight.z, eight.w));
}

void stageA(uint own, uint at, uint base, uint firstChunk) {
  [[unroll]] for (uint i = 0u; i < ROWS * kOfRow; i += SUBGROUP) {
    const uint item = i + own;
    const uint row = item / kOfRow;
    const uint vector = item % kOfRow;
    const uint k = firstChunk * kChunk + vector * 8u;
    if (item < ROWS * kOfRow) {
      uvec4 eight = uvec4(0u);
      if (row < push.rows && k < push.depth) eight = a[(base + row * aRowStride() + k) / 8u];
      const uint neighbour = vector / kEights % kSharing;
      const uint place = vector / (kEights * kSharing) * kEights + vector % kEights;
      staged[at + row * kOfRow + place * kSharing + neighbour] = inOrder(eight);
    }
  }
}

// Of the chunks from one on: weights, and the words that hold their parameters. Those behind the depth meet zeros.
void load(uint own, uint firstB[kHeldRows], uvec2 firstBlock[kHeldRows], uint firstChunk) {
  const uint last = push.depth - kWeights;
  const uint ofVector = own % kSharing;
  [[unroll]] for (uint c = 0u; c < CHUNKS; ++c) {
    const uint k = min((firstChunk + c) * kChunk + ofVector * kWeights, last);
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) vectors[c * kHeldRows + r] = b[(firstB[r] + k) / kWeights];
  }
  [[unroll]] for (uint c = 0u; c < CHUNKS; ++c)
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r)
      [[unroll]] for (uint part = 0u; part < PARTS; ++part) {
        const uint at = (c * kHeldRows + r) * PARTS + part;
        const uint ofPart = part * (kWeights / PARTS);
        [[unroll]] for (uint p = 0u; p < kPair; ++p) {
          const uint neighbour = (ofVector * kPair + p) % kSharing;
          const uint k = (firstChunk + c) * kChunk + neighbour * kWeights;
          if (!kPaired || p == 0u) {
            const uint block = blockAt(firstBlock[r], min(k, last) + ofPart).x;
            const uint word = scale[block / 2u];
            const uint half1 = kPaired ? word : word >> (block % 2u * 16u);
            scaleWords[at * kPair + p] = k < push.depth ? half1 : 0u;
          }
          if (kPaired && p == 1u)
            scaleWords[at * kPair + p] = k < push.depth ? scaleWords[at * kPair] >> 16u : 0u;
        }
        if (ZERO_POINTS != 0u) {
          const uint k = min((firstChunk + c) * kChunk + ofVector * kWeights, last) + ofPart;
          const uint block = blockAt(firstBlock[r], k).y;
          zeroWords[at] = bitfieldExtract(zeroWordAt(block) ^ push.signs, int(block * BITS % 32u), int(BITS));
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

void multiplyEight(uint own, uint at, uint c, uint eight, inout MATRIX_SUM products[kPasses]) {
  TWO_HALVES weights[kHeldRows * 4u];
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    TWO_HALVES pairs[4];
    const uint part = (c * kHeldRows + r) * PARTS + eight * PARTS / kEights;
    eightOf(vectors[c * kHeldRows + r], eight, ZERO_POINTS != 0u ? zeroWords[part] : push.zeroAt, pairs);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) weights[r * 4u + i] = pairs[i];
  }
  uvec4 factors[kPasses * kHeldRows];
  [[unroll]] for (uint i = 0u; i < kPasses * kHeldRows; ++i) {
    // The first row of A that this may be is known beforehand.
    const uint rowAtLeast = i / kHeldRows * kRowsOfMatrix + i % kHeldRows * kAcross / kSharing;
    const uint column = own / kSharing + kAcross * (i % kHeldRows);
    const uint row = i / kHeldRows * kRowsOfMatrix + column / kSharing;
    factors[i] = uvec4(0u);
    if (rowAtLeast < ROWS) {
      const bool is = column % kSharing == own % kSharing && row < ROWS;
      const uint first = is ? at + row * kOfRow + own % kSharing : at + ROWS * kOfRow;
      factors[i] = staged[first + (is ? (c * kEights + eight) * kSharing : 0u)];
    }
  }
  [[unroll]] for (uint step = 0u; step < 8u / kAlong; ++step) {
    MATRIX_A left;
    [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
      const uint half1 = step * kAlong + i % kAlong;
      MATRIX_AT(left, i) = HALF_OF(weights[i / kAlong * 4u + half1 / 2u], half1 % 2u);
    }
    [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass) {
      MATRIX_B right;
      [[unroll]] for (uint i = 0u; i < kHeldRows * kAlong; ++i) {
        const uint half1 = step * kAlong + i % kAlong;
        const TWO_HALVES two = TO_HALVES(factors[pass * kHeldRows + i / kAlong][half1 / 2u]);
        MATRIX_AT(right, i) = HALF_OF(two, half1 % 2u);
      }
      products[pass] = MULTIPLY_ADD(left, right, products[pass]);
    }
  }
}

void multiplyChunk(uint own, uint at, uint c, inout float sums[kSums]) {
  [[unroll]] for (uint part = 0u; part < PARTS; ++part) {
    MATRIX_SUM products[kPasses];
    [[unroll]] for (uint pass = 0u; pass < kPasses; ++pass) products[pass] = MATRIX_SUM(0.0);
    [[unroll]] for (uint eight = 0u; eight < kEights / PARTS; ++eight)
      multiplyEight(own, at, c, part * (kEights / PARTS) + eight, products);
    [[unroll]] for (uint r = 0u; r < kHeldRows; ++r)
      [[unroll]] for (uint p = 0u; p < kPair; ++p) {
        const float scale1 = floatFromHalf(scaleWords[((c * kHeldRows + r) * PARTS + part) * kPair + p] & 0xffffu);
        [[unroll]] for (uint i = 0u; i < kPasses * kTurns; ++i)
          if (i / kTurns * kRowsOfMatrix + i % kTurns * kPair < ROWS)  // the first row of A that this may be
            sums[i * kHeldRows + r] +=
                scale1 * MATRIX_AT(products[i / kTurns], r * kAlong + i % kTurns * kPair + p);
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
  const uint firstB = baseB + columnAt(column).b;
  float sum = 0.0;
  for (uint k = 0u; k < push.depth; ++k) {
    const uvec2 block = blockAt(firstBlock, k);
    const uvec4 vector = b[(firstB + k) / kWeights];
    const uint word = vector[k % kWeights * BITS / 32u] ^ push.signs;
    const float weight = float(bitfieldExtract(word, int(k * BITS % 32u), int(BITS))) - zeroAt(block.y);
    const uint at = baseA + row * aRowStride() + k;
    sum += floatsOf(a[at / 8u], at / 4u % 2u)[at % 4u] * weight * scaleAt(block.x);
  }
  return sum;
}

// Of a column of y, the sum of one of its columns of B; `set`: of subgroups that share the depth.
float sumOf(bool known, uint set, uint row, uint result, uint half1, uint column, uvec4 base) {
  const uint ofMatrix = GATES != 0u ? result * 2u + half1 : result;
  if (!known) return sumAlone(row, columnOfB(column, half1), base.x, base.y);
  float sum = 0.0;
  for (uint share = 0u; share < SHARES; ++share)
    sum += parts[((set * SHARES + share) * ROWS + row) * SIZE_ROWS + ofMatrix];
  return sum;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint own = gl_SubgroupInvocationID;
  const uint pair = group / push.columnGroups;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint firstColumn = (group - pair * push.columnGroups) * (kSubgroups / SHARES * kResults);
  const uint column = firstColumn + gl_SubgroupID / SHARES * kResults;
  const uint chunks = (push.depth + kChunk - 1u) / kChunk;
  const uint at = gl_SubgroupID * kStaged;

  uint firstB[kHeldRows];
  uvec2 firstBlock[kHeldRows];
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    const uint ofRow = columnOfRow(column, own / kSharing + kAcross * r);
    firstB[r] = base.y + columnAt(ofRow).b;
    firstBlock[r] = firstBlockOf(ofRow);
  }
  float sums[kSums];
  [[unroll]] for (uint i = 0u; i < kSums; ++i) sums[i] = 0.0;
  const uint ofShare = gl_SubgroupID % SHARES * CHUNKS;
  load(own, firstB, firstBlock, ofShare);
  stagePlaces(lane);
  if (own == 0u) staged[at + ROWS * kOfRow] = uvec4(0u);
  barrier();
  const bool known = placesAreKnown(own);
  for (uint chunk = 0u; chunk < chunks; chunk += SHARES * CHUNKS) {
    stageA(own, at, base.x, chunk + ofShare);
    SUBGROUP_BARRIER();
    [[unroll]] for (uint c = 0u; c < CHUNKS; ++c) multiplyChunk(own, at, c, sums);
    if (chunk + SHARES * CHUNKS < chunks) load(own, firstB, firstBlock, chunk + SHARES * CHUNKS + ofShare);
    SUBGROUP_BARRIER();
  }
  // [subgroup][row][column]
  [[unroll]] for (uint i = 0u; i < kSums; ++i) {
    [[unroll]] for (uint other = 1u; other < kSharing / kPair; other *= 2u)
      sums[i] += subgroupShuffleXor(sums[i], other);
    const uint row = i / (kTurns * kHeldRows) * kRowsOfMatrix + own % kSharing * kPair / kSharing +
                     kPair * (i / kHeldRows % kTurns);
    if (row < ROWS && own % (kSharing / kPair) == 0u)
      parts[(gl_SubgroupID * ROWS + row) * SIZE_ROWS + own / kSharing + kAcross * (i % kHeldRows)] = sums[i];
  }
  barrier();
  [[dont_unroll]] for (uint item = lane; item < kSubgroups / SHARES * kResults * push.rows; item += 256u) {
    const uint result = item % kResults;
    const uint set = item / kResults % (kSubgroups / SHARES);
    const uint row = item / (kResults * (kSubgroups / SHARES));
    const uint resultColumn = firstColumn + set * kResults + result;
    if (resultColumn < push.columns) {
      const Column place = columnAt(resultColumn);
      const float sum = sumOf(known, set, row, result, 0u, resultColumn, base);
      if (GATES != 0u)
        finishGate(sum, sumOf(known, set, row, result, 1u, resultColumn, base), row, place, base);
      else
        finish(sum, pair, row, resultColumn, place, base);
    }
  }
}
