#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What integer_cooperative.comp computes of products whose A comes in vectors of 16 along the depth, and B too or in
// vectors of four across it, with the look-ahead of cooperative_ahead.comp: two pairs of parts are on their way in
// registers and two lie in shared memory, and a subgroup reads the matrices that it multiplies next before it
// multiplies those it has. What loads an element also adds it to the sum of its row or column.
//   CHANNELS_LAST   defined where A is a filter and B the windows of an input whose channels lie side by side, a
//                   multiple of 16 of them
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
//   TILE_DEPTH    steps of a part
//   SUMS          which sums zero points make necessary
#define COOPERATIVE 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#if CHANNELS_LAST
#include "matrix/convolution.glsl"
#include "matrix/channels_last.glsl"
#else
#include "matrix/matrix.glsl"
#endif
#include "matrix/integers.glsl"
#define INTEGER_MATRICES 1
#include "matrix/cooperative.glsl"
#include "matrix/cooperative_tile.glsl"
#include "matrix/integer_bytes.glsl"
#if DIMPLE_REFLECT
#define SUM_OF_BYTES(WORD, ONES) (int(WORD) * (ONES))
#else
#extension GL_EXT_integer_dot_product : require
#define SUM_OF_BYTES(WORD, ONES) dotPacked4x8EXT(int(WORD), ONES)
#endif

// Four results of a row side by side.
#if T_BITS == 32
#define FOUR_RESULTS uvec4
#elif T_BITS == 16
#define FOUR_RESULTS uvec2
#else
#define FOUR_RESULTS uint
#endif
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yVectorBuffer { FOUR_RESULTS yVectors[]; };

const uint kSumColumns = 1u;
const uint kSumRows = 2u;
const int kOnes = 0x01010101;
const bool kSumsColumns = (SUMS & kSumColumns) != 0u;
const bool kSumsRows = (SUMS & kSumRows) != 0u;

const uint kStages = 2u;  // pairs of parts in shared memory, and as many on their way to it
const uint kSteps = TILE_DEPTH / SIZE_DEPTH;
const uint kSubgroups = 256u / SUBGROUP;
const uint kMatrixRows = TILE_ROWS / (kSubgroups / ACROSS) / SIZE_ROWS;  // of matrices in a subgroup
const uint kMatrixColumns = TILE_COLUMNS / ACROSS / SIZE_COLUMNS;

// Lines of a part in shared memory, in vectors: an odd number, so that neighbours lie in different banks. A matrix
// begins with a vector, which is half empty where matrices are eight steps deep.
const uint kVector = SIZE_DEPTH < 16u ? SIZE_DEPTH : 16u;
const uint kPitch = TILE_DEPTH / kVector + 1u;
const uint kPartA = kPitch * TILE_ROWS;
const uint kPart = kPartA + kPitch * TILE_COLUMNS;

// Neighbouring columns lie in different matrices of a group, so that what stores four of them writes lines next to
// those of its neighbours, in different banks.
const uint kMostInGroup = SIZE_COLUMNS / 4u;
const uint kGroup = kMatrixColumns < kMostInGroup ? kMatrixColumns : kMostInGroup;
const uint kGroupColumns = kGroup * SIZE_COLUMNS;
uint lineOf(uint column) {
  const uint place = column % kGroupColumns;
  return column - place + place % kGroup * SIZE_COLUMNS + place / kGroup;
}
uint columnOf(uint line) {
  const uint place = line % kGroupColumns;
  return line - place + place % SIZE_COLUMNS * kGroup + place / SIZE_COLUMNS;
}

// Afterwards a strip of a group's sums for each subgroup, in lines of vectors of four.
const uint kPitchOfStrip = kGroupColumns / 4u + 1u;
const uint kStrip = SIZE_ROWS * kPitchOfStrip;
shared uvec4 staged[kStages * kPart > kSubgroups * kStrip ? kStages * kPart : kSubgroups * kStrip];
// Sums of rows and columns, and their zero points.
shared int sumsOfRows[TILE_ROWS];
shared int zerosOfRows[TILE_ROWS];
shared ivec4 sumsOfColumns[TILE_COLUMNS / 4u];
shared ivec4 zerosOfColumns[TILE_COLUMNS / 4u];

// An item is 16 steps of one row or column, or eight of four columns.
const uint kLine = TILE_DEPTH / 16u;
const uint kItemsA = TILE_ROWS * kLine;
const uint kItemsB = kAcrossB ? TILE_COLUMNS / 4u * (TILE_DEPTH / 8u) : TILE_COLUMNS * kLine;
const uint kLoadsA = (kItemsA + 255u) / 256u;
const uint kLoadsB = (kItemsB + 255u) / 256u;
const uint kVectorsOfB = kAcrossB ? 2u : 1u;  // of an item
const uint kLinesOfB = kAcrossB ? 4u : 1u;
uint nextA[kLoadsA];  // which vectors, or words, are loaded next
uint nextB[kLoadsB];
#if CHANNELS_LAST
uint nextStep;  // of an invocation's items in the part that is loaded next: nextB are vectors of the first step of all
#endif
uvec4 loadedA[kStages * kLoadsA];
uvec4 loadedB[kStages * kLoadsB * kVectorsOfB];
int rowSums[kLoadsA];  // of what an invocation loads
int columnSums[kLoadsB * kLinesOfB];
MATRIX_A partA[2u * kMatrixRows];
MATRIX_B partB[2u * kMatrixColumns];
MATRIX_SUM sums[kMatrixRows * kMatrixColumns];

bool hasItem(uint item, uint items) { return items % 256u == 0u || item < items; }

// Where an item begins: x along the depth; y across, of B a line if the item lies along the depth and else a column.
// Eight neighbours, which store together, take lines whose places in shared memory lie in different banks.
uvec2 placeAlong(uint item) {
  const uint lines = 8u / kLine;
  const uint line = item % (8u * kLine) / kLine;
  return uvec2(item % kLine * 16u, item / (8u * kLine) * 8u + line % lines * kLine + line / lines);
}
uvec2 placeOfB(uint item) {
  if (!kAcrossB) return placeAlong(item);
  return uvec2(item / (TILE_COLUMNS / 4u) * 8u, item % (TILE_COLUMNS / 4u) * 4u);
}

// What an item's bytes are changed by so that they are signed.
uint flipOf(uint operand) { return (kindOf(operand) & 4u) != 0u ? 0u : kUnsigned; }

void loadItemB(uint at, uint next) {
  if (!kAcrossB) {
    loadedB[at] = bVectors[next];
    return;
  }
  const uint row = depthAt(1u).b / 4u;
  [[unroll]] for (uint v = 0u; v < kVectorsOfB; ++v) {
    const uint first = next + 4u * v * row;
    loadedB[at + v] = uvec4(b[first], b[first + row], b[first + 2u * row], b[first + 3u * row]);
  }
}

#if CHANNELS_LAST
// An invocation's items begin at the same step.
void loadB(uint ring, uint lane, uint advance) {
  const uint step1 = stepOffset(nextStep) / 16u;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (hasItem(lane + i * 256u, kItemsB)) loadedB[ring * kLoadsB + i] = bVectors[nextB[i] + step1];
  nextStep += advance * 16u;
}

void loadPartOfB(uint ring, uint lane, uint before, bool isLast, uint advance) {
  const bool inside = placeAlong(lane).x >= before;
  const uint step1 = inside ? stepOffset(nextStep) / 16u : 0u;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (hasItem(lane + i * 256u, kItemsB)) {
      const uint at = ring * kLoadsB + i;
      loadedB[at] = uvec4(flipOf(1u));
      if (inside) loadedB[at] = bVectors[nextB[i] + step1];
    }
  if (!isLast) nextStep += advance * 16u;
  else if (!inside) nextStep = 0u;
}
#else
void loadB(uint ring, uint lane, uint advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (hasItem(lane + i * 256u, kItemsB)) {
      loadItemB((ring * kLoadsB + i) * kVectorsOfB, nextB[i]);
      nextB[i] += advance;
    }
}

void loadPartOfB(uint ring, uint lane, uint before, bool isLast, uint advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (hasItem(lane + i * 256u, kItemsB)) {
      const uint at = (ring * kLoadsB + i) * kVectorsOfB;
      const bool inside = placeOfB(lane + i * 256u).x >= before;
      [[unroll]] for (uint v = 0u; v < kVectorsOfB; ++v) loadedB[at + v] = uvec4(flipOf(1u));
      if (inside) loadItemB(at, nextB[i]);
      if (!isLast) nextB[i] += advance;
      else if (!inside) nextB[i] = 0u;
    }
}
#endif

void load(uint ring, uint lane, uvec2 advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    if (hasItem(lane + i * 256u, kItemsA)) {
      loadedA[ring * kLoadsA + i] = aVectors[nextA[i]];
      nextA[i] += advance.x;
    }
  loadB(ring, lane, advance.y);
}

// The same of a part whose first `before` steps come before all others and count as zeros. Where no part follows, it is
// loaded once more, but for what lies before the first step.
void loadPartly(uint ring, uint lane, uint before, bool isLast, uvec2 advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    if (hasItem(lane + i * 256u, kItemsA)) {
      const uint at = ring * kLoadsA + i;
      const bool inside = placeAlong(lane + i * 256u).x >= before;
      loadedA[at] = uvec4(flipOf(0u));
      if (inside) loadedA[at] = aVectors[nextA[i]];
      if (!isLast) nextA[i] += advance.x;
      else if (!inside) nextA[i] = 0u;
    }
  loadPartOfB(ring, lane, before, isLast, advance.y);
}

int sumOf(uvec4 item, int ones) {
  return SUM_OF_BYTES(item.x, ones) + SUM_OF_BYTES(item.y, ones) + SUM_OF_BYTES(item.z, ones) +
         SUM_OF_BYTES(item.w, ones);
}

void storeAlong(uint part, uvec2 place, uvec4 item) {
  const uint at = part + place.y * kPitch + place.x / kVector;
  if (kVector == 16u) {
    staged[at] = item;
  } else {
    staged[at] = uvec4(item.xy, 0u, 0u);
    staged[at + 1u] = uvec4(item.zw, 0u, 0u);
  }
}

void storeItemB(uint at, uvec2 place, uint item, uint sumAt, int ones) {
  const uint flip = flipOf(1u);
  if (!kAcrossB) {
    const uvec4 value = loadedB[item] ^ flip;
    storeAlong(at, place, value);
    if (kSumsColumns) columnSums[sumAt] += sumOf(value, ones);
    return;
  }
  const uvec4 low = turned(loadedB[item] ^ flip);
  const uvec4 high = turned(loadedB[item + kVectorsOfB - 1u] ^ flip);
  const uint half1 = place.x % kVector / 8u * 2u;
  [[unroll]] for (uint j = 0u; j < kLinesOfB; ++j) {
    const uint vector = at + lineOf(place.y + j) * kPitch + place.x / kVector;
    staged[vector][half1] = low[j];
    staged[vector][half1 + 1u] = high[j];
    if (kSumsColumns) columnSums[sumAt + j] += SUM_OF_BYTES(low[j], ones) + SUM_OF_BYTES(high[j], ones);
  }
}

// ones: bytes by which what is stored counts in sums of rows and columns.
void store(uint ring, uint lane, uint stage, int ones) {
  const uint flip = flipOf(0u);
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    if (hasItem(lane + i * 256u, kItemsA)) {
      const uvec2 place = placeAlong(lane + i * 256u);
      const uvec4 value = loadedA[ring * kLoadsA + i] ^ flip;
      storeAlong(stage * kPart, place, value);
      if (kSumsRows) rowSums[i] += sumOf(value, ones);
    }
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (hasItem(lane + i * 256u, kItemsB))
      storeItemB(stage * kPart + kPartA, placeOfB(lane + i * 256u), (ring * kLoadsB + i) * kVectorsOfB, i * kLinesOfB,
                 ones);
}

// Reads the matrices of the steps from k on, of the subgroup whose sums begin at a row and line of the tile.
void readParts(uint which, uint stage, uint k, uvec2 origin) {
  const uint atA = stage * kPart + k / kVector;
  const uint atB = atA + kPartA;
  [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i)
    LOAD_ROWS(partA[which * kMatrixRows + i], staged, atA + (origin.x + i * SIZE_ROWS) * kPitch, kPitch);
  [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
    LOAD_COLUMNS(partB[which * kMatrixColumns + j], staged, atB + (origin.y + j * SIZE_COLUMNS) * kPitch, kPitch);
}

void multiply(uint which) {
  [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i)
    [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) {
      const uint sum = i * kMatrixColumns + j;
      sums[sum] = MULTIPLY_ADD(partA[which * kMatrixRows + i], partB[which * kMatrixColumns + j], sums[sum]);
    }
}

// Multiplies the pair of parts that lies at `stage`, while the next comes to the other place and the third one after is
// loaded. The caller gives `stage` as a literal, for the reasons that cooperative_ahead.comp gives.
void multiplyStage(uint stage, uint lane, uvec2 origin, uvec2 advance, int ones) {
  store(stage ^ 1u, lane, stage ^ 1u, ones);
  load(stage ^ 1u, lane, advance);
  if (kSteps == 1u) {
    barrier();
    readParts(stage ^ 1u, stage ^ 1u, 0u, origin);
    multiply(stage);
  } else {
    [[unroll]] for (uint step1 = 1u; step1 < kSteps; ++step1) {
      readParts(step1 % 2u, stage, step1 * SIZE_DEPTH, origin);
      multiply((step1 + 1u) % 2u);
    }
    barrier();
    readParts(0u, stage ^ 1u, 0u, origin);
    multiply(1u);
  }
}

// Where the first part begins. Elements of B across the depth are counted in words, others in vectors; modulo 2^32, as
// steps before the first one lie before the operand. What lies behind the last row or column makes only sums that are
// not stored: it is read from the last ones.
void prepareLoads(uint lane, uvec2 firsts, uvec4 base, uint before) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    const uvec2 place = placeAlong(lane + i * 256u);
    const uint row = min(firsts.x + place.y, push.rows - 1u);
    nextA[i] = (base.x + row * aRowStride() + place.x) / 16u - before / 16u;
  }
#if CHANNELS_LAST
  nextStep = placeAlong(lane).x - before;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uint column = min(firsts.y + columnOf(placeAlong(lane + i * 256u).y), push.columns - 1u);
    nextB[i] = (base.y + windowOffset(columnAt(column))) / 16u;
  }
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 place = placeOfB(lane + i * 256u);
    if (kAcrossB) {
      const uint column = min(firsts.y + place.y, push.columns - 4u);
      nextB[i] = (base.y + column) / 4u + (place.x - before) * (depthAt(1u).b / 4u);
    } else {
      const uint column = min(firsts.y + columnOf(place.y), push.columns - 1u);
      nextB[i] = (base.y + columnAt(column).b + place.x) / 16u - before / 16u;
    }
  }
#endif
}

// The number of parts is even; steps that this is too many come first.
void sumDepth(uint lane, uvec2 origin, uvec2 firsts, uvec4 base) {
  const uint count = (push.depth + 2u * TILE_DEPTH - 1u) / (2u * TILE_DEPTH) * 2u;
  const uint before = count * TILE_DEPTH - push.depth;
  prepareLoads(lane, firsts, base, before);
  const uvec2 advance = uvec2(kLine, kAcrossB ? TILE_DEPTH * (depthAt(1u).b / 4u) : kLine);
  const uint beforeSecond = before > TILE_DEPTH ? before - TILE_DEPTH : 0u;
  const bool two = count == 2u;

  loadPartly(0u, lane, before, false, advance);
  store(0u, lane, 0u, kOnes);
  loadPartly(1u, lane, beforeSecond, two, advance);
  // Past the last part it is loaded again, and stored, but not added to sums of rows and columns.
  loadPartly(0u, lane, two ? beforeSecond : 0u, two, advance);
  barrier();
  readParts(0u, 0u, 0u, origin);
  [[dont_unroll]] for (uint t = 0u; t < count; t += 2u) {
    multiplyStage(0u, lane, origin, t + 4u < count ? advance : uvec2(0u), kOnes);
    multiplyStage(1u, lane, origin, t + 5u < count ? advance : uvec2(0u), t + 2u < count ? kOnes : 0);
  }
}

// Adds what invocations have summed, and keeps the zero points. A's zero point is taken from each of a row's elements.
void shareSums(uint lane, uvec2 firsts, uint pair) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    if (kSumsRows && hasItem(lane + i * 256u, kItemsA))
      atomicAdd(sumsOfRows[placeAlong(lane + i * 256u).y], rowSums[i]);
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    if (kSumsColumns && hasItem(lane + i * 256u, kItemsB)) {
      const uint place = placeOfB(lane + i * 256u).y;
      [[unroll]] for (uint j = 0u; j < kLinesOfB; ++j) {
        const uint column = kAcrossB ? place + j : columnOf(place);
        atomicAdd(sumsOfColumns[column / 4u][column % 4u], columnSums[i * kLinesOfB + j]);
      }
    }
  if (SUMS != 0u && lane < TILE_ROWS && firsts.x + lane < push.rows) {
    const int zero = shifted(zeroOfA(quantizedRow(pair, firsts.x + lane)), kindOf(0u));
    zerosOfRows[lane] = zero;
    atomicAdd(sumsOfRows[lane], -zero * int(push.depth));
  }
  if (SUMS != 0u && lane < TILE_COLUMNS && firsts.y + lane < push.columns)
    zerosOfColumns[lane / 4u][lane % 4u] = shifted(zeroOfB(firsts.y + lane), kindOf(1u));
}

// Four sums of a row of the tile, from a column on, less what zero points make of them.
ivec4 sumsAt(uint strip, uvec2 place, uvec2 at) {
  ivec4 result;
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    const uint line = lineOf(place.y + j);
    result[j] = int(staged[strip + place.x * kPitchOfStrip + line / 4u][line % 4u]);
  }
  if (kSumsColumns) result -= zerosOfRows[at.x] * sumsOfColumns[at.y / 4u];
  if (SUMS != 0u) result -= zerosOfColumns[at.y / 4u] * sumsOfRows[at.x];
  return result;
}

// Whether four results of a row lie side by side, where four elements are stored together.
bool storesVectors(uint base) {
#if CHANNELS_LAST
  return (push.flags & kStoresFours) != 0u;
#else
  return parameters[1].w == 1u && ((push.columns | yRowStride() | base) & 3u) == 0u;
#endif
}

// Where C has the element of a column.
Column columnOfC(uint column) {
#if CHANNELS_LAST
  return Column(0u, 0u, 0u, uvec3(0u), true, false);  // it has one for each row
#else
  return columnAt(column);
#endif
}

FOUR_RESULTS packed(uvec4 results) {
#if T_BITS == 32
  return results;
#elif T_BITS == 16
  return (results.xz & 0xffffu) | (results.yw << 16u);
#else
  return (results.x & 0xffu) | (results.y & 0xffu) << 8u | (results.z & 0xffu) << 16u | results.w << 24u;
#endif
}

// Stores what a subgroup has in shared memory, whose first element's row and column of the tile are given.
void storeStrip(uint strip, bool vectors, uvec2 first, uvec2 firsts, uint pair, uvec4 base) {
  [[dont_unroll]] for (uint item = gl_SubgroupInvocationID; item < SIZE_ROWS * kGroupColumns / 4u;
                       item += SUBGROUP) {
    const uvec2 place = uvec2(item / (kGroupColumns / 4u), item % (kGroupColumns / 4u) * 4u);
    const uvec2 at = first + place;
    if (firsts.x + at.x >= push.rows || firsts.y + at.y >= push.columns) continue;
    const ivec4 fourSums = sumsAt(strip, place, at);
    uvec4 results;
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
      const uint column = min(firsts.y + at.y + j, push.columns - 1u);
      results[j] = finished(SUM(fourSums[j]), pair, firsts.x + at.x, column, columnOfC(column), base);
    }
    const uint offset = base.w + (firsts.x + at.x) * yRowStride();
    if (vectors) {
      yVectors[(offset + columnAt(firsts.y + at.y).y) / 4u] = packed(results);
    } else {
      [[unroll]] for (uint j = 0u; j < 4u; ++j) {
        const uint column = firsts.y + at.y + j;
        if (column < push.columns) storeRaw_y(offset + columnAt(column).y, results[j]);
      }
    }
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + TILE_ROWS - 1u) / TILE_ROWS;
  const uint columnTiles = (push.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  const uint pair = group / (rowTiles * columnTiles);
  const uvec2 tile = tileOf(group - pair * (rowTiles * columnTiles), rowTiles, columnTiles);
  const uvec2 firsts = tile * uvec2(TILE_ROWS, TILE_COLUMNS);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uvec2 size = uvec2(SIZE_ROWS, SIZE_COLUMNS);
  const uvec2 origin = uvec2(gl_SubgroupID / ACROSS * kMatrixRows, gl_SubgroupID % ACROSS * kMatrixColumns) * size;
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0);
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) rowSums[i] = 0;
  [[unroll]] for (uint i = 0u; i < kLoadsB * kLinesOfB; ++i) columnSums[i] = 0;
  if (lane < TILE_ROWS) sumsOfRows[lane] = 0;
  if (lane < TILE_COLUMNS / 4u) sumsOfColumns[lane] = ivec4(0);
  sumDepth(lane, origin, firsts, base);

  // A group of matrices at a time passes through shared memory, for the reasons that cooperative.comp gives.
  shareSums(lane, firsts, pair);
  barrier();
  const uint strip = gl_SubgroupID * kStrip;
  const bool vectors = storesVectors(base.w);
  const uint groups = kMatrixRows * kMatrixColumns / kGroup;
  // An unrolled loop gains 2 % where rows are stored as they lie, and keeps the sums of windows in memory.
#if CONVOLUTION
  [[dont_unroll]] for (uint i = 0u; i < groups; ++i) {
    [[unroll]] for (uint j = 0u; j < kMatrixRows * kMatrixColumns; ++j)
      if (i == j / kGroup) STORE_ROWS(sums[j], staged, strip + j % kGroup * (SIZE_COLUMNS / 4u), kPitchOfStrip);
#else
  [[unroll]] for (uint i = 0u; i < groups; ++i) {
    [[unroll]] for (uint j = 0u; j < kGroup; ++j)
      STORE_ROWS(sums[i * kGroup + j], staged, strip + j * (SIZE_COLUMNS / 4u), kPitchOfStrip);
#endif
    SUBGROUP_BARRIER();
    const uvec2 place = uvec2(i / (kMatrixColumns / kGroup) * SIZE_ROWS, i % (kMatrixColumns / kGroup) * kGroupColumns);
    storeStrip(strip, vectors, origin + place, firsts, pair, base);
    SUBGROUP_BARRIER();
  }
}
