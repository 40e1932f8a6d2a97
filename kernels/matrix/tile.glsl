// A workgroup computes TILE x TILE_COLUMNS elements, an invocation kPer x kPer of them, kStep steps of the depth at a
// time. While it computes with one part of A and B in shared memory the next is on its way.
#ifndef TILE_COLUMNS
#define TILE_COLUMNS TILE
#endif
const uint kRows = TILE;
const uint kColumns = TILE_COLUMNS;
// Pairs of parts in shared memory. With 1 there are more barriers, but more workgroups run side by side.
#if TILE_COLUMNS >= 128
#if DIMPLE_COMPACT
#define STAGES 1
#else
#define STAGES 2
#endif
const uint kStep = 8u;
const uint kPer = 8u;
#else
#define STAGES 1
const uint kStep = 16u;
const uint kPer = 4u;
#endif
const uint kFours = kPer / 4u;  // of a row of an invocation's elements
const uint kDown = kRows / kPer;
const uint kAcross = kColumns / kPer;
const uint kLanes = kDown * kAcross;
// Shared memory is read in fours of rows or columns. Apart enough that neighbouring steps of the depth lie in different
// banks.
const uint kPitchA = kRows / 4u + 1u;
const uint kPitchB = kColumns / 4u + 1u;
const uint kPartA = kStep * kPitchA;
const uint kPartB = kStep * kPitchB;
shared FOUR_SUMS sharedA[STAGES * kPartA];
shared FOUR_SUMS sharedB[STAGES * kPartB];

// Whether neighbouring invocations load elements along the depth.
#if WINDOWS
bool aDepthFirst() { return false; }
#elif CONVOLUTION
bool aDepthFirst() { return true; }
bool bDepthFirst() { return false; }
#else
#if INTEGER
#define DIRECTIONS push.flags
#endif
bool aDepthFirst() { return (DIRECTIONS & kADepthFirst) != 0u; }
bool bDepthFirst() { return (DIRECTIONS & kBDepthFirst) != 0u; }
#endif

#if STORES_FOURS
// Nothing of the general case is kept in registers: there is one matrix, whose elements begin where the buffers do, and
// its depth is an even number of parts, all of which one workgroup adds and stores as fours.
bool isWhole() { return (DIRECTIONS & kWhole) != 0u; }
bool storesFours() { return (DIRECTIONS & kStoresFours) != 0u; }
// Longer code that NVIDIA's driver fits into registers for two workgroups on a multiprocessor, and not for one. On
// processors it takes five times as long to compile. DXIL would hold both, and its long form is of this kind.
bool isUnrolled() { return (DIRECTIONS & kUnrolled) != 0u; }
#elif DIMPLE_HLSL && !DIMPLE_COMPACT && VECTOR && !WINDOWS
bool isWhole() { return (DIRECTIONS & kWhole) != 0u; }
bool isUnrolled() { return true; }
#else
bool isWhole() { return false; }
bool isUnrolled() { return false; }
#endif

#include "matrix/tile_place.glsl"

// The place in a part of an element: x along the depth, y across its `lines` rows or columns.
uvec2 placeOf(uint element, uint lines, bool depthFirst) {
  return depthFirst ? uvec2(element % kStep, element / kStep) : uvec2(element / lines, element % lines);
}

// The row or column of an invocation's element: groups of four neighbours, as far apart as all invocations have fours.
uint rowPlace(uint down, uint i) { return i / 4u * (kDown * 4u) + down * 4u + i % 4u; }
uint columnPlace(uint across, uint i) { return i / 4u * (kAcross * 4u) + across * 4u + i % 4u; }

// Which of the rows and of the columns of invocations: 32 neighbours, a subgroup of many devices, form a block whose
// sides are alike, so that they read little.
uint downOf(uint lane) { return lane / (4u * kAcross) * 4u + lane % 32u / 8u; }
uint acrossOf(uint lane) { return lane / 32u % (kAcross / 8u) * 8u + lane % 8u; }

#if WINDOWS
#include "matrix/tile_windows.glsl"
#elif VECTOR
#include "matrix/tile_vector.glsl"
#else
#include "matrix/tile_scalar.glsl"
#endif

const uint kPerColumn = kPer;
const uint kPerRow = kPer;
const uint kFoursA = kFours;
const uint kFoursB = kFours;
#include "matrix/tile_products.glsl"

void loadParts(uint which, uint step1, uint stage, uint down, uint across) {
  [[unroll]] for (uint i = 0u; i < kFours; ++i)
    partA[which * kFours + i] = sharedA[stage * kPartA + step1 * kPitchA + i * kDown + down];
  [[unroll]] for (uint i = 0u; i < kFours; ++i)
    partB[which * kFours + i] = sharedB[stage * kPartB + step1 * kPitchB + i * kAcross + across];
}

#if DIMPLE_COMPACT
void multiplyAll(uint down, uint across) {
  [[dont_unroll]] for (uint k = 0u; k < kStep; ++k) {
    loadParts(0u, k, 0u, down, across);
    multiply(0u);
  }
}
#else
// All steps of a part but for the last, which is ready to be multiplied then.
void multiplyAll(uint stage, uint down, uint across) {
  [[unroll]] for (uint k = 0u; k + 1u < kStep; ++k) {
    loadParts((k + 1u) & 1u, k + 1u, stage, down, across);
    multiply(k & 1u);
  }
}
#endif

#if STAGES == 2
// One of the two, which all have stored, and the first step of the other.
void multiplyPart(uint stage, uint down, uint across) {
  multiplyAll(stage, down, across);
  barrier();
  loadParts(0u, 0u, stage ^ 1u, down, across);
  multiply((kStep - 1u) & 1u);
}
#endif

// Of an invocation's sums: four of a row.
FOUR_SUMS ownFour(uint four) {
  FOUR_SUMS own = FOUR_SUMS(0);
  [[unroll]] for (uint k = 0u; k < kPer * kPer; ++k)
    if (k / 4u == four) own[k % 4u] = sums[k];
  return own;
}

#if STORES_FOURS
#define FINISH_FOUR(FOUR)                                                           \
  finishFour(ownFour(FOUR), pairAndSlice, firstRow + rowPlace(down, FOUR / kFours), \
             firstColumn + columnPlace(across, FOUR % kFours * 4u), starts[FOUR % kFours], base)
// All four lie inside or none, and none of a convolution's in padding: `start` is the first column.
void finishFour(vec4 four, uint pairAndSlice, uint row, uint column, Column start, uvec4 base) {
  if (row >= push.rows || column >= push.columns) return;
  if ((push.flags & kToParts) != 0u) {
    storeFourParts((pairAndSlice * push.rows + row) * push.columns + column, four);
    return;
  }
  const uint at = base.w + row * yRowStride() + start.y;
  const vec4 added = addendFour(at);
#if CONVOLUTION
  [[unroll]] for (uint i = 0u; i < 4u; ++i) four[i] = finishedWith(four[i], row, start, base, added[i]);
#else
  [[unroll]] for (uint i = 0u; i < 4u; ++i) four[i] = finishedWith(four[i], row, columnAt(column + i), base, added[i]);
#endif
  storeFour(at, four);
}
#endif

// DXIL has one copy of what finishes a sum.
#if WINDOWS && !DIMPLE_COMPACT
#define FINISHES_FOURS 1
// Finishes four sums of each invocation that lie in shared memory, so that loads of what is added overlap.
void finishFours(uint lane, uint pairAndSlice, uint firstRow, uint firstColumn, uint four, uvec4 base) {
  uvec2 places[4];
  Column starts[4];
  float addends[4];
  [[unroll]] for (uint k = 0u; k < 4u; ++k) {
    const uint owner = (k * kLanes + lane) / 4u;
    places[k].x = firstRow + rowPlace(downOf(owner), four / kFours);
    places[k].y = firstColumn + columnPlace(acrossOf(owner), four % kFours * 4u + lane % 4u);
    starts[k] = columnAt(min(places[k].y, push.columns - 1u));
    const uint row = min(places[k].x, push.rows - 1u);
    addends[k] = (push.flags & kToParts) != 0u ? 0.0 : addendAt(base.w + row * yRowStride() + starts[k].y);
  }
  [[unroll]] for (uint k = 0u; k < 4u; ++k) {
    const float sum = sharedA[(k * kLanes + lane) / 4u][lane % 4u];
    if (places[k].x >= push.rows || places[k].y >= push.columns) continue;
    if ((push.flags & kToParts) != 0u)
      storePart((pairAndSlice * push.rows + places[k].x) * push.columns + places[k].y, sum);
    else
      finishWith(sum, places[k].x, starts[k], base, addends[k]);
  }
}
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const TilePlace place = placeOfTile(group, kRows, kColumns);
  const uint pairAndSlice = place.pairAndSlice;
  const uint pair = place.pair;
  const uint begin = place.begin;
  const uint end = place.end;
  const uint firstRow = place.firstRow;
  const uint firstColumn = place.firstColumn;
  const uvec4 base = isWhole() ? uvec4(0u) : walkOffsets(kMatrices, push.matrixRank, pair);

  [[unroll]] for (uint i = 0u; i < kPer * kPer; ++i) sums[i] = SUM(0);
  const uint down = downOf(lane);
  const uint across = acrossOf(lane);

  prepareLoads(lane, pair, base, firstRow, firstColumn, begin);
#if DIMPLE_COMPACT
  // A turn loads a part and multiplies the one before: one copy of each, for DXIL takes long to compile.
  const uint parts = (end - begin + kStep - 1u) / kStep;
  for (uint turn = 0u; turn <= parts; ++turn) {
#if VECTOR
    loadFirst(begin + turn * kStep, begin, end, true);
#else
    load(lane, base, firstRow, firstColumn, begin + turn * kStep, end, turn % 2u);
#endif
    if (turn > 0u) multiplyAll(down, across);
    barrier();
    store(lane, 0u);
#if !VECTOR
    prepareNext(lane, begin + (turn + 2u) * kStep, turn % 2u);
#endif
    barrier();
  }
#elif STAGES == 2
  // An even number of parts. The first two hold zeros in the place of steps before `begin`, so that all behind them are
  // whole.
  const uint parts = (end - begin + 2u * kStep - 1u) / (2u * kStep) * 2u;
  const uint first = end - parts * kStep;
  loadFirst(first, begin, end, true);
  store(lane, 0u);
  loadFirst(first + kStep, begin, end, parts > 2u);
  if (!isWhole() && parts > 2u) loadFrom(first + 2u * kStep);
  barrier();
  loadParts(0u, 0u, 0u, down, across);
  if (isUnrolled()) {
    // The last two parts are a turn of the same loop that loads what is there for nothing: loads have no condition, and
    // the loop stands once, with which NVIDIA's driver takes a third of the time to compile.
    uint left = parts - 2u;
    [[dont_unroll]] for (uint turn = 0u; turn < 2u; ++turn) {
      for (uint part = 0u; part < left; part += 2u) {
        store(lane, 1u);
        loadWhole(true);
        multiplyPart(0u, down, across);
        store(lane, 0u);
        loadWhole(true);
        multiplyPart(1u, down, across);
      }
      left = 2u;
      loadNothing();
    }
  } else {
    for (uint part = 0u; part < parts; part += 2u)
      [[dont_unroll]] for (uint stage = 0u; stage < 2u; ++stage) {
        store(lane, stage ^ 1u);
        // Behind the last part it is loaded again, for nothing.
        loadWhole(part + stage + 3u < parts);
        multiplyPart(stage, down, across);
      }
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
  if (storesFours()) {
    Column starts[kFours];
    [[unroll]] for (uint i = 0u; i < kFours; ++i) starts[i] = columnAt(firstColumn + columnPlace(across, i * 4u));
    // One copy: with a GELU, four are six times as much code for NVIDIA's compiler.
    [[dont_unroll]] for (uint four = 0u; four < kPer * kFours + hiddenZero(); ++four) FINISH_FOUR(four);
    return;
  }
#endif
  barrier();
  // Four sums at a time of each invocation pass through shared memory, so that there is one copy of what finishes them
  // and not one for each, and that neighbours store neighbouring columns.
  [[dont_unroll]] for (uint four = 0u; four < kPer * kFours; ++four) {
    sharedA[lane] = ownFour(four);
    barrier();
#if FINISHES_FOURS
    finishFours(lane, pairAndSlice, firstRow, firstColumn, four, base);
#else
    [[dont_unroll]] for (uint k = 0u; k < 4u; ++k) {
      const uint element = k * kLanes + lane;
      const uint owner = element / 4u;
      const uint row = firstRow + rowPlace(downOf(owner), four / kFours);
      const uint column = firstColumn + columnPlace(acrossOf(owner), four % kFours * 4u + element % 4u);
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
#endif
    barrier();
  }
}
