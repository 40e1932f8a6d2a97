// A workgroup computes TILE x TILE_COLUMNS elements (TILE x TILE where nothing else is said), an invocation a sixteenth
// of the rows and of the columns, kStep steps of the depth at a time. While it computes with one part of A and B in
// shared memory the next is on its way.
#ifndef TILE_COLUMNS
#define TILE_COLUMNS TILE
#endif
const uint kRows = TILE;
const uint kColumns = TILE_COLUMNS;
const uint kStep = 1024u / kRows;
const uint kPerRow = kColumns / 16u;  // of an invocation's elements
const uint kPerColumn = kRows / 16u;
// Shared memory is read in fours of rows or columns. Apart enough that neighbouring steps of the depth lie in different
// banks.
const uint kFoursA = kPerColumn / 4u;
const uint kFoursB = kPerRow / 4u;
const uint kFours = kPerColumn * kFoursB;
const uint kPitchA = kRows / 4u + 1u;
const uint kPitchB = kColumns / 4u + 1u;

// Pairs of parts in shared memory. With 1 there are more barriers, but more workgroups run side by side.
#if TILE == 128
#define STAGES 2
// 4 % faster on an H100 with places in shared memory that are known, but DXIL takes twice as long to compile.
#if DIMPLE_HLSL
#define UNROLL_STAGES [[dont_unroll]]
#else
#define UNROLL_STAGES [[unroll]]
#endif
#else
#define STAGES 1
#endif
const uint kPartA = kStep * kPitchA;
const uint kPartB = kStep * kPitchB;
shared FOUR_SUMS sharedA[STAGES * kPartA];
shared FOUR_SUMS sharedB[STAGES * kPartB];

#include "matrix/tile_place.glsl"

// Whether neighbouring invocations load elements along the depth.
#if CONVOLUTION
bool aDepthFirst() { return true; }
bool bDepthFirst() { return false; }
#else
#if INTEGER
#define DIRECTIONS push.flags
#endif
bool aDepthFirst() { return (DIRECTIONS & kADepthFirst) != 0u; }
bool bDepthFirst() { return (DIRECTIONS & kBDepthFirst) != 0u; }
#endif

// The place in a part of an element: x along the depth, y across its `lines` rows or columns.
uvec2 placeOf(uint element, uint lines, bool depthFirst) {
  return depthFirst ? uvec2(element % kStep, element / kStep) : uvec2(element / lines, element % lines);
}

// The row or column of an invocation's element: groups of four neighbours, 64 apart.
uint tilePlace(uint lane16, uint i) { return i / 4u * 64u + lane16 * 4u + i % 4u; }

// Which of 16 rows and of 16 columns of invocations: 32 neighbours, a subgroup of many devices, form a block whose
// sides are like those of their elements, so that they read little.
const uint kBlock = TILE_COLUMNS > TILE ? 4u : 8u;
uint downOf(uint lane) { return lane / (512u / kBlock) * (32u / kBlock) + lane % 32u / kBlock; }
uint acrossOf(uint lane) { return lane / 32u % (16u / kBlock) * kBlock + lane % kBlock; }

#if VECTOR
#include "matrix/tile_vector.glsl"
#else
#include "matrix/tile_scalar.glsl"
#endif

// What an invocation multiplies next, one step of the depth ahead.
FOUR_SUMS partA[2u * kFoursA];
FOUR_SUMS partB[2u * kFoursB];
SUM sums[kPerColumn * kPerRow];

void loadParts(uint which, uint step1, uint stage, uint down, uint across) {
  [[unroll]] for (uint i = 0u; i < kFoursA; ++i)
    partA[which * kFoursA + i] = sharedA[stage * kPartA + step1 * kPitchA + i * 16u + down];
  [[unroll]] for (uint i = 0u; i < kFoursB; ++i)
    partB[which * kFoursB + i] = sharedB[stage * kPartB + step1 * kPitchB + i * 16u + across];
}

// Back and forth, so that neighbouring multiplications share an operand.
void multiply(uint which) {
  [[unroll]] for (uint j = 0u; j < kPerRow; ++j)
    [[unroll]] for (uint turn = 0u; turn < kPerColumn; ++turn) {
      const uint i = j % 2u == 0u ? turn : kPerColumn - 1u - turn;
      sums[i * kPerRow + j] += partA[which * kFoursA + i / 4u][i % 4u] * partB[which * kFoursB + j / 4u][j % 4u];
    }
}

// All steps of a part but for the last, which is ready to be multiplied then.
void multiplyAll(uint stage, uint down, uint across) {
  [[unroll]] for (uint k = 0u; k + 1u < kStep; ++k) {
    loadParts((k + 1u) & 1u, k + 1u, stage, down, across);
    multiply(k & 1u);
  }
}

// Of an invocation's sums: four of a row.
FOUR_SUMS ownFour(uint four) {
  FOUR_SUMS own = FOUR_SUMS(0);
  [[unroll]] for (uint k = 0u; k < kPerColumn * kPerRow; ++k)
    if (k / 4u == four) own[k % 4u] = sums[k];
  return own;
}

#if STORES_FOURS
// All four lie inside or none.
void finishFour(vec4 four, uint pairAndSlice, uint pair, uint row, uint column, uvec4 base) {
  if (row >= push.rows || column >= push.columns) return;
  if ((push.flags & kToParts) != 0u) {
    storeFourParts((pairAndSlice * push.rows + row) * push.columns + column, four);
    return;
  }
  [[unroll]] for (uint i = 0u; i < 4u; ++i) four[i] = finished(four[i], row, columnAt(column + i), base);
  storeFour(base.w + row * yRowStride() + columnAt(column).y, four);
}
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const TilePlace tile = placeOfTile(group, kRows, kColumns);
  const uint pairAndSlice = tile.pairAndSlice;
  const uint pair = tile.pair;
  const uint begin = tile.begin;
  const uint end = tile.end;
  const uint firstRow = tile.firstRow;
  const uint firstColumn = tile.firstColumn;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

  [[unroll]] for (uint i = 0u; i < kPerColumn * kPerRow; ++i) sums[i] = SUM(0);
  const uint down = downOf(lane);
  const uint across = acrossOf(lane);

  prepareLoads(lane, pair, base, firstRow, firstColumn, begin);
#if STAGES == 2
  // An even number of parts. The first two hold zeros in the place of steps before `begin`, so that all behind them are
  // whole.
  const uint parts = (end - begin + 2u * kStep - 1u) / (2u * kStep) * 2u;
  const uint first = end - parts * kStep;
  loadEdge(first, begin, end);
  store(lane, 0u);
  loadEdge(first + kStep, begin, end);
  if (parts > 2u) loadFrom(first + 2u * kStep);
  barrier();
  loadParts(0u, 0u, 0u, down, across);
  for (uint part = 0u; part < parts; part += 2u)
    UNROLL_STAGES for (uint stage = 0u; stage < 2u; ++stage) {
      store(lane, stage ^ 1u);
      // Behind the last part it is loaded again, for nothing.
      loadWhole(part + stage + 3u < parts);
      multiplyAll(stage, down, across);
      barrier();
      loadParts(0u, 0u, stage ^ 1u, down, across);
      multiply((kStep - 1u) & 1u);
    }
#else
  load(lane, base, firstRow, firstColumn, begin, end, 0u);
  store(lane, 0u);
  barrier();
  loadParts(0u, 0u, 0u, down, across);
  uint which = 0u;
  for (uint first = begin; first < end; first += kStep) {
    const uint next = first + kStep;
    which ^= 1u;
    if (next < end) load(lane, base, firstRow, firstColumn, next, end, which);
    multiplyAll(0u, down, across);
    barrier();
    if (next < end) store(lane, 0u);
    prepareNext(lane, next + kStep, which ^ 1u);
    barrier();
    loadParts(0u, 0u, 0u, down, across);
    multiply((kStep - 1u) & 1u);
  }
#endif

#if STORES_FOURS
  if ((push.flags & kStoresFours) != 0u) {
    [[dont_unroll]] for (uint four = 0u; four < kFours; ++four)
      finishFour(ownFour(four), pairAndSlice, pair, firstRow + tilePlace(down, four / kFoursB),
                 firstColumn + tilePlace(across, four % kFoursB * 4u), base);
    return;
  }
#endif
  barrier();
  // Four sums at a time of each invocation pass through shared memory, so that there is one copy of what finishes them
  // and not one for each, and that neighbours store neighbouring columns.
  [[dont_unroll]] for (uint four = 0u; four < kFours; ++four) {
    sharedA[lane] = ownFour(four);
    barrier();
    [[dont_unroll]] for (uint k = 0u; k < 4u; ++k) {
      const uint element = k * 256u + lane;
      const uint owner = element / 4u;
      const uint row = firstRow + tilePlace(downOf(owner), four / kFoursB);
      const uint column = firstColumn + tilePlace(acrossOf(owner), four % kFoursB * 4u + element % 4u);
      if (row >= push.rows || column >= push.columns) continue;
      const SUM sum = sharedA[owner][element % 4u];
#if !INTEGER
      if ((push.flags & kToParts) != 0u) {
        storePart((pairAndSlice * push.rows + row) * push.columns + column, sum);
        continue;
      }
#endif
      finish(sum, pair, row, column, columnAt(column), base);
    }
    barrier();
  }
}
