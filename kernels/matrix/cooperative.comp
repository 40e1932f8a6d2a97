#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// y = activation(alpha * sum over the depth of A * B + beta * c), computed by matrices that a subgroup's invocations hold
// together. A workgroup computes TILE_ROWS x TILE_COLUMNS elements from FLOAT16 parts of A and B in shared memory; while it
// multiplies one pair of parts the next is on its way. FLOAT32 operands are rounded to FLOAT16; sums are FLOAT32.
//   CONVOLUTION   defined where A is a filter and B the windows of an input (convolution.glsl), else matrix.glsl
//   CHANNELS_LAST   defined where the input's channels lie side by side (channels_last.glsl)
//   matrixRank    walk over the matrices at parameters[kMatrices] (operands: A, B, C, y)
//   slices        of the depth, sliceDepth steps each: a workgroup computes with one of them
#define COOPERATIVE 1
#define PAIRS 1
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#if CONVOLUTION
#include "matrix/convolution.glsl"
#if CHANNELS_LAST
#include "matrix/channels_last.glsl"
#endif
#else
#include "matrix/matrix.glsl"
#endif
#include "matrix/floats.glsl"

// ACROSS: subgroups side by side in a tile. SUBGROUP: invocations of one.
// STAGES: pairs of parts in shared memory, 1 or 2. With 1 there are more barriers, but more workgroups run side by side.

#include "matrix/cooperative.glsl"
#include "matrix/cooperative_tile.glsl"

const uint kDown = 256u / SUBGROUP / ACROSS;
const uint kMatrixRows = TILE_ROWS / kDown / SIZE_ROWS;  // of matrices in a subgroup
const uint kMatrixColumns = TILE_COLUMNS / ACROSS / SIZE_COLUMNS;

// Lines of a part in shared memory, in vectors of eight FLOAT16, one apart so that neighbours lie in different banks.
const uint kPitchA = (kAcrossA ? TILE_ROWS : TILE_DEPTH) / 8u + 1u;
const uint kPitchB = (kAcrossB ? TILE_COLUMNS : TILE_DEPTH) / 8u + 1u;
const uint kPartA = kPitchA * (kAcrossA ? TILE_DEPTH : TILE_ROWS);
const uint kPart = kPartA + kPitchB * (kAcrossB ? TILE_DEPTH : TILE_COLUMNS);
// Afterwards a matrix of sums for each subgroup, in vectors of four.
const uint kStrip = SIZE_ROWS * SIZE_COLUMNS / 4u;
const uint kWidth = ROWS_FIRST != 0u ? SIZE_ROWS : SIZE_COLUMNS;  // of its lines
const uint kLinesOfStrip = SIZE_ROWS * SIZE_COLUMNS / kWidth;
const uint kStrips = 256u / SUBGROUP * kStrip;
shared uvec4 staged[STAGES * kPart > kStrips ? STAGES * kPart : kStrips];

const uint kItemsA = TILE_ROWS * TILE_DEPTH / 8u;
const uint kLoadsA = (kItemsA + 255u) / 256u;
bool isItemOfA(uint item) { return kItemsA % 256u == 0u || item < kItemsA; }
const uint kLoadsB = TILE_COLUMNS * TILE_DEPTH / 8u / 256u;
uvec4 loadedA[kLoadsA];
uvec4 loadedB[kLoadsB];

// Where the eight elements of an item begin: x along the depth, y across.
uvec2 itemPlace(uint item, bool across, uint tile) {
  return across ? uvec2(item / (tile / 8u), item % (tile / 8u) * 8u)
                : uvec2(item % (TILE_DEPTH / 8u) * 8u, item / (TILE_DEPTH / 8u));
}

#if T == f16
uint halfOf(uint raw) { return raw; }
uvec4 eightA(uint i) { return aVectors[i / 8u]; }
uvec4 eightB(uint i) { return bVectors[i / 8u]; }
#else
uint halfOf(uint raw) { return packHalf2x16(vec2(uintBitsToFloat(raw), 0.0)); }
uvec4 halves(vec4 low, vec4 high) {
  return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy), packHalf2x16(high.zw));
}
uvec4 eightA(uint i) { return halves(uintBitsToFloat(aVectors[i / 4u]), uintBitsToFloat(aVectors[i / 4u + 1u])); }
uvec4 eightB(uint i) { return halves(uintBitsToFloat(bVectors[i / 4u]), uintBitsToFloat(bVectors[i / 4u + 1u])); }
#endif

uvec4 eightOf(uint raws[8]) {
  uvec4 result;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) result[i] = halfOf(raws[2u * i]) | (halfOf(raws[2u * i + 1u]) << 16u);
  return result;
}

// Single elements outside are loaded from others and then made zeros: such loads overlap.
uvec4 loadA8(uvec2 place, uint base, uint end) {
  // The planner has seen to it that all eight elements of a vector lie inside or none.
  if ((A_READS & kVectors) != 0u) {
    if (place.x >= end || place.y >= push.rows) return uvec4(0u);
#if CONVOLUTION
    return eightA(base + place.y * aRowStride() + place.x);
#else
    return eightA(base + place.y * aRowStride() + depthAt(place.x).a);
#endif
  }
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    const uvec2 at = place + (kAcrossA ? uvec2(0u, i) : uvec2(i, 0u));
    const bool inside = at.x < end && at.y < push.rows;
    raws[i] = loadRaw_a(inside ? base + at.y * aRowStride() + depthAt(at.x).a : 0u);
    raws[i] = inside ? raws[i] : 0u;
  }
  return eightOf(raws);
}

#if CHANNELS_LAST
// Columns behind the last make only sums that are not stored: they are read from it.
uvec2 itemPlaceB(uint item) { return itemPlace(item, false, TILE_COLUMNS); }
uint columnsB[kLoadsB];  // where the columns of an invocation's items begin
uint insideB[kLoadsB];   // which elements of their windows lie inside the input
void writeSteps(uint lane, uint first, uint which) {}
uvec4 loadB8(uint k, uint i, uint end) {
  bool inside = k < end;
  if ((B_READS & kEdges) != 0u) inside = inside && (insideB[i] >> tapOf(k) & 1u) != 0u;
  const uvec4 loaded = eightB(inside ? columnsB[i] + stepOffset(k) : 0u);
  const uvec4 eight = inside ? loaded : uvec4(0u);
  if ((B_READS & kOfLines) == 0u) return eight;
  return channelsOfLine(eight, int(parameters[kChannels + 1u].x) - int(k - tapOf(k) * parameters[kChannels].x));
}
#elif CONVOLUTION
// The steps of the depth that are loaded next: offset in B, and reach.
shared uvec4 steps[2u * TILE_DEPTH];
void writeSteps(uint lane, uint first, uint which) {
  if (lane < TILE_DEPTH) {
    const Depth depth = depthAt(first + lane);
    steps[which * TILE_DEPTH + lane] = uvec4(depth.b, depth.reach);
  }
}
// An invocation loads eight steps of its one column.
uvec2 itemPlaceB(uint item) { return uvec2(item / TILE_COLUMNS * 8u, item % TILE_COLUMNS); }
uvec4 loadB8(uvec2 place, Column column, uint base, uint first, uint end, uint which) {
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    const uvec4 step1 = steps[which * TILE_DEPTH + place.x + i];
    Depth depth;
    depth.b = step1.x;
    depth.reach = step1.yzw;
    uint offset;
    const bool inside = meets(column, depth, offset) && first + place.x + i < end;
    raws[i] = loadRaw_b(inside ? base + offset : 0u);
    raws[i] = inside ? raws[i] : 0u;
  }
  return eightOf(raws);
}
#else
uvec2 itemPlaceB(uint item) { return itemPlace(item, kAcrossB, TILE_COLUMNS); }
uvec4 loadB8(uvec2 place, uint base, uint end) {
  if ((B_READS & kVectors) != 0u) {
    if (place.x >= end || place.y >= push.columns) return uvec4(0u);
    return eightB(base + columnAt(place.y).b + depthAt(place.x).b);
  }
  uint raws[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    const uvec2 at = place + (kAcrossB ? uvec2(0u, i) : uvec2(i, 0u));
    const bool inside = at.x < end && at.y < push.columns;
    raws[i] = loadRaw_b(inside ? base + columnAt(at.y).b + depthAt(at.x).b : 0u);
    raws[i] = inside ? raws[i] : 0u;
  }
  return eightOf(raws);
}
#endif

void store(uint lane, uint which) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    const uvec2 place = itemPlace(lane + i * 256u, kAcrossA, TILE_ROWS);
    if (isItemOfA(lane + i * 256u)) staged[which * kPart + itemAt(place, kAcrossA, kPitchA)] = loadedA[i];
  }
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 place = itemPlaceB(lane + i * 256u);
    staged[which * kPart + kPartA + itemAt(place, kAcrossB, kPitchB)] = loadedB[i];
  }
}

// Whether eight results of a line lie side by side, where they are stored together.
bool storesVectors(uint base) {
#if T == f16
  if (ROWS_FIRST != 0u) return ROWS_FIRST >= kInVectors;
#if !CONVOLUTION
  if ((push.columns & 7u) != 0u) return false;
  if ((push.flags & kToParts) != 0u) return true;
  return parameters[1].w == 1u && ((yRowStride() | base) & 7u) == 0u;
#endif
#endif
  return false;
}

#include "matrix/addends.glsl"

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + TILE_ROWS - 1u) / TILE_ROWS;
  const uint columnTiles = (push.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  const uint pairAndSlice = group / (rowTiles * columnTiles);
  const uint pair = pairAndSlice / push.slices;
  const uint slice = pairAndSlice - pair * push.slices;
  const uvec2 tile = tileOf(group - pairAndSlice * (rowTiles * columnTiles), rowTiles, columnTiles);
  const uint firstRow = tile.x * TILE_ROWS;
  const uint firstColumn = tile.y * TILE_COLUMNS;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);
  loadStrides();
  const uint begin = slice * push.sliceDepth;
  const uint end = min(begin + push.sliceDepth, push.depth);

  const uint subgroup = gl_SubgroupID;
  const uint subgroupRow = subgroup / ACROSS * (kMatrixRows * SIZE_ROWS);
  const uint subgroupColumn = subgroup % ACROSS * (kMatrixColumns * SIZE_COLUMNS);
  MATRIX_SUM sums[kMatrixRows * kMatrixColumns];
  [[unroll]] for (uint i = 0u; i < kMatrixRows * kMatrixColumns; ++i) sums[i] = MATRIX_SUM(0.0);

#if CHANNELS_LAST
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const Column at = columnAt(min(firstColumn + itemPlaceB(lane + i * 256u).y, push.columns - 1u));
    columnsB[i] = base.y + windowOffset(at);
    insideB[i] = tapsInside(at);
  }
#define LOAD_B(FIRST, WHICH) loadB8(FIRST + itemPlaceB(lane + i * 256u).x, i, end)
#elif CONVOLUTION
  const Column column = columnAt(min(firstColumn + lane % TILE_COLUMNS, push.columns - 1u));
  writeSteps(lane, begin, 0u);
  writeSteps(lane, begin + TILE_DEPTH, 1u);
  barrier();
#define LOAD_B(FIRST, WHICH) loadB8(itemPlaceB(lane + i * 256u), column, base.y, FIRST, end, WHICH)
#else
#define LOAD_B(FIRST, WHICH) loadB8(uvec2(FIRST, firstColumn) + itemPlaceB(lane + i * 256u), base.y, end)
#endif
#define LOAD(FIRST, WHICH)                                                                                             \
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) if (isItemOfA(lane + i * 256u)) loadedA[i] =                          \
      loadA8(uvec2(FIRST, firstRow) + itemPlace(lane + i * 256u, kAcrossA, TILE_ROWS), base.x, end);                   \
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) loadedB[i] = LOAD_B(FIRST, WHICH);

  LOAD(begin, 0u)
  store(lane, 0u);
  barrier();
  uint which = 0u;
  for (uint first = begin; first < end; first += TILE_DEPTH) {
    const uint next = first + TILE_DEPTH;
    if (next < end) { LOAD(next, which ^ 1u) }
    const uint partA = (which & (STAGES - 1u)) * kPart;
    const uint partB = partA + kPartA;
    [[unroll]] for (uint k = 0u; k < TILE_DEPTH; k += SIZE_DEPTH) {
      MATRIX_B b[kMatrixColumns];
      [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j) {
        const uint across = subgroupColumn + j * SIZE_COLUMNS;
        if (kAcrossB) {
          LOAD_ROWS(b[j], staged, partB + k * kPitchB + across / 8u, kPitchB);
        } else {
          LOAD_COLUMNS(b[j], staged, partB + across * kPitchB + k / 8u, kPitchB);
        }
      }
      [[unroll]] for (uint i = 0u; i < kMatrixRows; ++i) {
        MATRIX_A a;
        const uint across = subgroupRow + i * SIZE_ROWS;
        if (kAcrossA) {
          LOAD_COLUMNS(a, staged, partA + k * kPitchA + across / 8u, kPitchA);
        } else {
          LOAD_ROWS(a, staged, partA + across * kPitchA + k / 8u, kPitchA);
        }
        [[unroll]] for (uint j = 0u; j < kMatrixColumns; ++j)
          sums[i * kMatrixColumns + j] = MULTIPLY_ADD(a, b[j], sums[i * kMatrixColumns + j]);
      }
    }
    which ^= 1u;
    if (STAGES == 1u) barrier();
    if (next < end) store(lane, which & (STAGES - 1u));
#if CONVOLUTION
    writeSteps(lane, next + TILE_DEPTH, which ^ 1u);
#endif
    barrier();
  }

  // Each matrix passes through shared memory, in a place of its subgroup's own, so that there is one copy of what
  // finishes them: a loop that is too long to be unrolled would keep the matrices in memory and not in registers.
  const uint place = subgroup * kStrip;
  const bool yInVectors = storesVectors(base.w);
  // Those of the same channels follow each other.
  const uint together = ROWS_FIRST != 0u ? kMatrixColumns : kMatrixRows;
  [[dont_unroll]] for (uint n = 0u; n < kMatrixRows * kMatrixColumns; ++n) {
    const uint i = ROWS_FIRST != 0u ? n : n % kMatrixRows * kMatrixColumns + n / kMatrixRows;
    const uint top = firstRow + subgroupRow + i / kMatrixColumns * SIZE_ROWS;
    const uint left = firstColumn + subgroupColumn + i % kMatrixColumns * SIZE_COLUMNS;
#if T == f16
    if (yInVectors && n % together == 0u) loadOperandsOfStrip(uvec2(top, left), base);
#endif
    loadAddends(yInVectors, uvec2(top, left), base);
    [[unroll]] for (uint j = 0u; j < kMatrixRows * kMatrixColumns; ++j)
      if (i == j) {
        if (ROWS_FIRST != 0u) {
          STORE_COLUMNS(sums[j], staged, place, SIZE_ROWS / 4u);
        } else {
          STORE_ROWS(sums[j], staged, place, SIZE_COLUMNS / 4u);
        }
      }
    SUBGROUP_BARRIER();
#if T == f16
    if (yInVectors) {
      for (uint item = gl_SubgroupInvocationID; item < SIZE_ROWS * SIZE_COLUMNS / 8u; item += SUBGROUP) {
        const uint line = item / (kWidth / 8u);
        const uint along = item % (kWidth / 8u) * 8u;
        const uint row = top + (ROWS_FIRST != 0u ? along : line);
        const uint column1 = left + (ROWS_FIRST != 0u ? line : along);
        if (row < push.rows && column1 < push.columns)
          storeEight(staged[place + item * 2u], staged[place + item * 2u + 1u], eightAddends(item), pairAndSlice, row,
                     column1, base);
      }
    } else
#endif
    {
      [[dont_unroll]] for (uint element = gl_SubgroupInvocationID; element < SIZE_ROWS * SIZE_COLUMNS;
                             element += SUBGROUP) {
        const uint line = element / kWidth;
        const uint row = top + (ROWS_FIRST != 0u ? element % kWidth : line);
        const uint column1 = left + (ROWS_FIRST != 0u ? line : element % kWidth);
        if (row < push.rows && column1 < push.columns) {
          const float sum = uintBitsToFloat(staged[place + element / 4u][element % 4u]);
          if ((push.flags & kToParts) != 0u) {
            storePart(partPlace(pairAndSlice, row, column1), sum);
          } else {
            finishWith(sum, row, columnAt(column1), base, singleAddend(element));
          }
        }
      }
    }
    SUBGROUP_BARRIER();
  }
}
