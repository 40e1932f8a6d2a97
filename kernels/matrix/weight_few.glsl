// What kernels of few rows share, of FLOAT16 and by matrices whose elements invocations set one by one. The columns of B
// are rows of the factor on the left, the rows of A columns of the one on the right. Include after the enums.
//   GATES         gates.glsl; neighbouring columns of B then are rows of the two halves
//   PLACES        0: places are taken as unknown, as if the device had chosen others; 1: the kernel looks at them; kKnown:
//                 the device has been seen to place them so
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
const uint kWeights = 128u / BITS;                               // of a vector
const uint kEights = kWeights / 8u;                              // of a vector
const uint kAcross = SUBGROUP / kSharing;                        // from one column of an invocation to the next
const uint kColumnsOfGroup = kSubgroups / SHARES * kResults;     // of y

// Totals of subgroups, [subgroup][row][column]; PART_SETS: that alternate.
const uint kPartsOfSet = kSubgroups * ROWS * SIZE_ROWS;
shared float parts[PART_SETS * kPartsOfSet];

// Sums of squares of rows of A, [row][subgroup], and what their elements are multiplied by.
const uint kSumsOfRow = NORMALIZES != 0u ? kSubgroups : 1u;
shared float squares[ROWS * kSumsOfRow];
shared float inverseRoots[ROWS];

// The order in which weights of a word come out of it, in pairs.
uvec4 inOrder(uvec4 eight) {
  if (BITS == 4u)
    return uvec4(lowerHalves(eight.x, eight.z), upperHalves(eight.x, eight.z), lowerHalves(eight.y, eight.w),
                 upperHalves(eight.y, eight.w));
  return uvec4(lowerHalves(eight.x, eight.y), upperHalves(eight.x, eight.y), lowerHalves(eight.z, eight.w),
               upperHalves(eight.z, eight.w));
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

// Where the columns of B begin that an invocation holds elements of; `column`: the first one of y.
void findColumns(uint own, uint column, uint baseB, out uint firstB[kHeldRows], out uvec2 firstBlock[kHeldRows]) {
  [[unroll]] for (uint r = 0u; r < kHeldRows; ++r) {
    const uint ofRow = columnOfRow(column, own / kSharing + kAcross * r);
    firstB[r] = baseB + ofRow * push.bColumn;
    firstBlock[r] = firstBlockOf(ofRow);
  }
}

// Of a column of y, the sum of one of its columns of B; `set`: of subgroups that share the depth.
float sumOf(uint at, bool known, uint set, uint row, uint result, uint half1, uint column, uvec2 base) {
  const uint ofMatrix = GATES != 0u ? result * 2u + half1 : result;
  if (!known) return sumAlone(row, columnOfB(column, half1), base.x, base.y);
  float sum = 0.0;
  [[unroll]] for (uint share = 0u; share < SHARES; ++share)
    sum += parts[at + ((set * SHARES + share) * ROWS + row) * SIZE_ROWS + ofMatrix];
  return sum;
}
