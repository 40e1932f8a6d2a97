#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// y = finish(sum over the depth of (a - zero of A) * (b - zero of B)) for operands of 8 bits, computed by matrices that
// a subgroup's invocations hold together. A workgroup computes TILE_ROWS x TILE_COLUMNS elements from parts of A and B
// in shared memory. Unsigned elements and their zero points are taken less 128, so that all are signed; sums wrap. The
// sum is that of a * b, less what the zero points make of the sums of A's rows and B's columns, which products with
// matrices of ones give.
//   CONVOLUTION   defined where A is a filter and B the windows of an input (convolution.glsl), else matrix.glsl
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
#define COOPERATIVE 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#if CONVOLUTION
#include "matrix/convolution.glsl"
#else
#include "matrix/matrix.glsl"
#endif
#include "matrix/integers.glsl"

// ACROSS: subgroups side by side in a tile. SUBGROUP: invocations of one.
// A_READS, B_READS: how an operand is read. kVectors: in vectors, else single elements; kAcross: neighbours lie across
// the depth.
const uint kVectors = 1u;
const uint kAcross = 2u;

#define INTEGER_MATRICES 1
#include "matrix/cooperative.glsl"
#include "matrix/integer_bytes.glsl"

const bool kAcrossA = (A_READS & kAcross) != 0u;
const bool kAcrossB = (B_READS & kAcross) != 0u;
const uint kDown = 256u / SUBGROUP / ACROSS;
const uint kMatrixRows = TILE_ROWS / kDown / SIZE_ROWS;  // of matrices in a subgroup
const uint kMatrixColumns = TILE_COLUMNS / ACROSS / SIZE_COLUMNS;

// Rows of A and columns of B in shared memory, along the depth, in vectors of eight elements; 16 bytes apart so that
// neighbours lie in different banks.
const uint kPitch = TILE_DEPTH / 8u + 2u;
const uint kPartA = kPitch * TILE_ROWS;
const uint kParts = kPartA + kPitch * TILE_COLUMNS;
// Afterwards a matrix of sums for each subgroup, in vectors of two.
const uint kStrip = SIZE_ROWS * SIZE_COLUMNS / 2u;
const uint kStrips = 256u / SUBGROUP * kStrip;
shared uvec2 staged[kParts > kStrips ? kParts : kStrips];
shared int sumsOfRows[TILE_ROWS];
shared int sumsOfColumns[TILE_COLUMNS];

// An item is 16 elements along the depth of one row or column, or else four by four.
const uint kLoadsA = TILE_ROWS * TILE_DEPTH / 16u / 256u;
const uint kLoadsB = TILE_COLUMNS * TILE_DEPTH / 16u / 256u;
uvec4 loadedA[kLoadsA];
uvec4 loadedB[kLoadsB];

// Where the elements of an item begin: x along the depth, y across. Four blocks along the depth and eight across it go
// to neighbours, so that they read whole sectors and write few of a bank.
uvec2 itemPlace(uint item, bool across, uint tile) {
  if (!across) return uvec2(item % (TILE_DEPTH / 16u) * 16u, item / (TILE_DEPTH / 16u));
  const uint block = item / 32u;
  return uvec2(block % (TILE_DEPTH / 16u) * 4u + item % 4u, block / (TILE_DEPTH / 16u) * 8u + item / 4u % 8u) * 4u;
}

// A byte of a word; without a sign, the rest is of others.
uint byteOf(uint word, uint i) { return word >> (i % 4u * 8u); }

// Of single elements. Those outside are loaded from others and then made zeros: such loads overlap.
#define LOAD_SINGLE(RESULT, WORDS, OFFSET, END, KIND, ACROSS_IT)                                                  \
  [[unroll]] for (uint i = 0u; i < 16u; ++i) {                                                                    \
    const uvec2 at = place + (ACROSS_IT ? uvec2(i / 4u, i % 4u) : uvec2(i, 0u));                                  \
    const bool inside = at.x < end && at.y < END;                                                                 \
    const uint offset = inside ? OFFSET : 0u;                                                                     \
    const uint element = byteOf(signedWord(WORDS[offset / 4u], KIND), offset) & 0xffu;                            \
    RESULT[i / 4u] |= (inside ? element : 0u) << (i % 4u * 8u);                                                   \
  }

uvec4 loadA16(uvec2 place, uint base, uint end) {
  const uint kind = kindOf(0u);
  uvec4 result = uvec4(0u);
  // The planner has seen to it that all elements of a vector lie inside or none.
  if ((A_READS & kVectors) != 0u) {
    if (place.x >= end || place.y >= push.rows) return result;
    if (!kAcrossA) {
      result = aVectors[(base + place.y * aRowStride() + place.x) / 16u];
      return uvec4(signedWord(result.x, kind), signedWord(result.y, kind), signedWord(result.z, kind),
                   signedWord(result.w, kind));
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      if (place.x + i < end) result[i] = signedWord(a[(base + place.y + depthAt(place.x + i).a) / 4u], kind);
    return turned(result);
  }
  LOAD_SINGLE(result, a, base + at.y * aRowStride() + depthAt(at.x).a, push.rows, kind, kAcrossA)
  return kAcrossA ? turned(result) : result;
}

#if CONVOLUTION
// The steps of the depth that are loaded next: offset in B, and reach.
shared uvec4 steps[2u * TILE_DEPTH];
void writeSteps(uint lane, uint first, uint which) {
  if (lane < TILE_DEPTH) {
    const Depth depth = depthAt(first + lane);
    steps[which * TILE_DEPTH + lane] = uvec4(depth.b, depth.reach);
  }
}
// An invocation loads 16 steps of its one column.
uvec2 itemPlaceB(uint item) { return uvec2(item / TILE_COLUMNS * 16u, item % TILE_COLUMNS); }
// Elements that a window has and the input has not are zero points.
uvec4 loadB16(uvec2 place, Column column, uint base, uint first, uint end, uint which, uint zero) {
  const uint kind = kindOf(1u);
  uvec4 result = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < 16u; ++i) {
    const uvec4 step1 = steps[which * TILE_DEPTH + place.x + i];
    Depth depth;
    depth.b = step1.x;
    depth.reach = step1.yzw;
    uint offset;
    // Steps behind the depth lie behind B, too.
    const bool isStep = first + place.x + i < end;
    const bool met = meets(column, depth, offset) && isStep;
    offset = met ? base + offset : 0u;
    const uint element = byteOf(signedWord(b[offset / 4u], kind), offset) & 0xffu;
    if (isStep) result[i / 4u] |= (met ? element : zero) << (i % 4u * 8u);
  }
  return result;
}
#else
uvec2 itemPlaceB(uint item) { return itemPlace(item, kAcrossB, TILE_COLUMNS); }
uvec4 loadB16(uvec2 place, uint base, uint end) {
  const uint kind = kindOf(1u);
  uvec4 result = uvec4(0u);
  if ((B_READS & kVectors) != 0u) {
    if (place.x >= end || place.y >= push.columns) return result;
    if (!kAcrossB) {
      result = bVectors[(base + columnAt(place.y).b + place.x) / 16u];
      return uvec4(signedWord(result.x, kind), signedWord(result.y, kind), signedWord(result.z, kind),
                   signedWord(result.w, kind));
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      if (place.x + i < end) result[i] = signedWord(b[(base + place.y + depthAt(place.x + i).b) / 4u], kind);
    return turned(result);
  }
  LOAD_SINGLE(result, b, base + columnAt(at.y).b + depthAt(at.x).b, push.columns, kind, kAcrossB)
  return kAcrossB ? turned(result) : result;
}
#endif

void storeItem(uint part, uvec2 place, bool across, uvec4 item) {
  if (!across) {
    const uint at = part + place.y * kPitch + place.x / 8u;
    staged[at] = item.xy;
    staged[at + 1u] = item.zw;
    return;
  }
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    staged[part + (place.y + i) * kPitch + place.x / 8u][place.x / 4u % 2u] = item[i];
}

void store(uint lane) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    storeItem(0u, itemPlace(lane + i * 256u, kAcrossA, TILE_ROWS), kAcrossA, loadedA[i]);
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) storeItem(kPartA, itemPlaceB(lane + i * 256u), kAcrossB, loadedB[i]);
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + TILE_ROWS - 1u) / TILE_ROWS;
  const uint columnTiles = (push.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  const uint pair = group / (rowTiles * columnTiles);
  const uint tile = group - pair * (rowTiles * columnTiles);
  const uint firstRow = tile / columnTiles * TILE_ROWS;
  const uint firstColumn = tile % columnTiles * TILE_COLUMNS;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  const uint end = push.depth;
  const bool zerosOfRows = (push.flags & kHasZeroA) != 0u || (kindOf(0u) & 4u) == 0u;
  const bool zerosOfColumns = (push.flags & kHasZeroB) != 0u || (kindOf(1u) & 4u) == 0u;

  const uint subgroup = gl_SubgroupID;
  const uint down = subgroup / ACROSS;
  const uint across1 = subgroup % ACROSS;
  const uint subgroupRow = down * (kMatrixRows * SIZE_ROWS);
  const uint subgroupColumn = across1 * (kMatrixColumns * SIZE_COLUMNS);
  MATRIX_SUM sums[kMatrixRows * kMatrixColumns];
  MATRIX_SUM rowSums[kMatrixRows];
  MATRIX_SUM columnSums[kMatrixColumns];
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0);
  [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i) rowSums[i] = MATRIX_SUM(0);
  [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) columnSums[j] = MATRIX_SUM(0);
  const MATRIX_A onesA = MATRIX_A(1);
  const MATRIX_B onesB = MATRIX_B(1);

#if CONVOLUTION
  const Column column = columnAt(min(firstColumn + lane % TILE_COLUMNS, push.columns - 1u));
  const uint zeroOfWindow = uint(shifted(zeroOfB(0u), kindOf(1u))) & 0xffu;
  writeSteps(lane, 0u, 0u);
  writeSteps(lane, TILE_DEPTH, 1u);
  barrier();
#define LOAD_B(FIRST, WHICH) loadB16(itemPlaceB(lane + i * 256u), column, base.y, FIRST, end, WHICH, zeroOfWindow)
#else
#define LOAD_B(FIRST, WHICH) loadB16(uvec2(FIRST, firstColumn) + itemPlaceB(lane + i * 256u), base.y, end)
#endif
#define LOAD(FIRST, WHICH)                                                                            \
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) loadedA[i] =                                         \
      loadA16(uvec2(FIRST, firstRow) + itemPlace(lane + i * 256u, kAcrossA, TILE_ROWS), base.x, end); \
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) loadedB[i] = LOAD_B(FIRST, WHICH);

  LOAD(0u, 0u)
  store(lane);
  barrier();
  uint which = 0u;
  for (uint first = 0u; first < end; first += TILE_DEPTH) {
    const uint next = first + TILE_DEPTH;
    if (next < end) { LOAD(next, which ^ 1u) }
    [[unroll]] for (uint k = 0u; k < TILE_DEPTH; k += SIZE_DEPTH) {
      MATRIX_B b[kMatrixColumns];
      [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) {
        LOAD_COLUMNS(b[j], staged, kPartA + (subgroupColumn + j * SIZE_COLUMNS) * kPitch + k / 8u, kPitch);
        // Each of the subgroups that hold the same columns has a share of their sums.
        if (zerosOfRows && j % kDown == down) columnSums[j] = MULTIPLY_ADD(onesA, b[j], columnSums[j]);
      }
      [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
        MATRIX_A a;
        LOAD_ROWS(a, staged, (subgroupRow + i * SIZE_ROWS) * kPitch + k / 8u, kPitch);
        if (zerosOfColumns && i % ACROSS == across1) rowSums[i] = MULTIPLY_ADD(a, onesB, rowSums[i]);
        [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
          sums[i * kMatrixColumns + j] = MULTIPLY_ADD(a, b[j], sums[i * kMatrixColumns + j]);
      }
    }
    which ^= 1u;
    barrier();
    if (next < end) store(lane);
#if CONVOLUTION
    writeSteps(lane, next + TILE_DEPTH, which ^ 1u);
#endif
    barrier();
  }

  // Matrices pass through shared memory, in a place of the subgroup's own, as in cooperative.comp.
  const uint place = subgroup * kStrip;
  // Every subgroup comes to every barrier: lavapipe waits for the whole workgroup there.
  [[dont_unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
    const bool shares = i % ACROSS == across1;
    [[unroll]] for (uint j = 0u; j < kMatrixRows; ++j)
      if (shares && i == j) STORE_ROWS(rowSums[j], staged, place, SIZE_COLUMNS / 2u);
    SUBGROUP_BARRIER();
    for (uint row = gl_SubgroupInvocationID; shares && row < SIZE_ROWS; row += SUBGROUP)
      sumsOfRows[subgroupRow + i * SIZE_ROWS + row] = int(staged[place + row * (SIZE_COLUMNS / 2u)].x);
    SUBGROUP_BARRIER();
  }
  [[dont_unroll]] for (uint i = 0u; i < kMatrixColumns; ++i) {
    const bool shares = i % kDown == down;
    [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
      if (shares && i == j) STORE_ROWS(columnSums[j], staged, place, SIZE_COLUMNS / 2u);
    SUBGROUP_BARRIER();
    for (uint column1 = gl_SubgroupInvocationID; shares && column1 < SIZE_COLUMNS; column1 += SUBGROUP)
      sumsOfColumns[subgroupColumn + i * SIZE_COLUMNS + column1] = int(staged[place + column1 / 2u][column1 % 2u]);
    SUBGROUP_BARRIER();
  }
  barrier();
  [[dont_unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) {
    [[unroll]] for (uint j = 0u; j < kMatrixRows * kMatrixColumns; ++j)
      if (i == j) STORE_ROWS(sums[j], staged, place, SIZE_COLUMNS / 2u);
    SUBGROUP_BARRIER();
    const uint top = subgroupRow + i / kMatrixColumns * SIZE_ROWS;
    const uint left = subgroupColumn + i % kMatrixColumns * SIZE_COLUMNS;
    [[dont_unroll]] for (uint element = gl_SubgroupInvocationID; element < SIZE_ROWS * SIZE_COLUMNS;
                           element += SUBGROUP) {
      const uint rowOfTile = top + element / SIZE_COLUMNS;
      const uint columnOfTile = left + element % SIZE_COLUMNS;
      const uint row = firstRow + rowOfTile;
      const uint column1 = firstColumn + columnOfTile;
      if (row < push.rows && column1 < push.columns) {
        int sum = int(staged[place + element / 2u][element % 2u]);
        const int zeroA = shifted(zeroOfA(quantizedRow(pair, row)), kindOf(0u));
        const int zeroB = shifted(zeroOfB(column1), kindOf(1u));
        if (zerosOfRows) sum -= zeroA * sumsOfColumns[columnOfTile];
        if (zerosOfColumns) sum -= zeroB * sumsOfRows[rowOfTile];
        sum += zeroA * zeroB * int(push.depth);
        finish(SUM(sum), pair, row, column1, columnAt(column1), base);
      }
    }
    SUBGROUP_BARRIER();
  }
}
