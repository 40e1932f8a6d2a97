// A workgroup computes TILE x TILE_COLUMNS elements, and its parts share the depth: each computes sums of the whole
// tile, kSteps of every kRound steps, from its own place in shared memory, and in the end the parts are added up. So a
// product of few tiles has small ones whose invocations have as many elements as in large ones, and reads shared memory
// as rarely. While a part multiplies, what it multiplies next is on its way to registers.
const uint kRows = TILE;
const uint kColumns = TILE_COLUMNS;
#if TILE_COLUMNS == 16
const uint kPerColumn = 4u;
const uint kPerRow = 4u;
#elif TILE_COLUMNS % 32 == 0
const uint kPerColumn = 8u;  // of an invocation's elements
const uint kPerRow = 8u;
#else
const uint kPerColumn = 4u;
const uint kPerRow = 12u;
#endif
const uint kDown = kRows / kPerColumn;
const uint kAcross = kColumns / kPerRow;
const uint kLanes = kDown * kAcross;  // a part's invocations
const uint kParts = 256u / kLanes;
const uint kSteps = 8u;
const uint kRound = kSteps * kParts;

// Shared memory is read in fours of rows or columns. Apart so that elements that are stored side by side lie in
// different banks.
const uint kFoursA = kPerColumn / 4u;
const uint kFoursB = kPerRow / 4u;
const uint kFours = kPerColumn * kFoursB;
// Sums of the parts take the place of A in the end.
const uint kPitchA = max(kRows / 4u + 1u, 128u / kRows);
#if CONVOLUTION && TILE_COLUMNS == 24
const uint kPitchB = 10u;
#else
const uint kPitchB = kColumns / 4u + 1u;
#endif
const uint kPartA = kSteps * kPitchA;
const uint kPartB = kSteps * kPitchB;
shared vec4 sharedA[kParts * kPartA];
shared vec4 sharedB[kParts * kPartB];

bool isWhole() { return false; }
#include "matrix/tile_place.glsl"

#if CONVOLUTION
bool aDepthFirst() { return true; }
uint offsetOfA(uint k) { return k; }
#else
bool aDepthFirst() { return (DIRECTIONS & kADepthFirst) != 0u; }
bool bDepthFirst() { return (DIRECTIONS & kBDepthFirst) != 0u; }
uint offsetOfA(uint k) { return depthAt(k).a; }
#endif

// The place among the steps of an element: x along the depth, y across its `lines` rows or columns.
uvec2 placeOf(uint element, uint lines, bool depthFirst) {
  return depthFirst ? uvec2(element % kSteps, element / kSteps) : uvec2(element / lines, element % lines);
}

// Of the vectors of A that an invocation loads: offsets of their rows, and in vectors of what is loaded next.
const uint kVectorsA = kRows * kSteps / 4u / kLanes;
uint linesA[kVectorsA];
uint nextA[kVectorsA];
vec4 loadedA[kVectorsA];

uvec2 placeInA(uint own, uint i) { return placeOf((own + i * kLanes) * 4u, kRows, aDepthFirst()); }

#if CONVOLUTION
#include "matrix/split_windows.glsl"
#else
#include "matrix/split_vectors.glsl"
#endif

// Rows that are not stored are others'.
void prepareA(uint own, uint base, uint firstRow) {
  [[unroll]] for (uint i = 0u; i < kVectorsA; ++i) {
    const uint row = firstRow + placeInA(own, i).y;
    linesA[i] = base + (row < push.rows ? row : 0u) * aRowStride();
  }
}

// Steps before `begin`, which may be below zero and wrap, and from `end` on are zeros.
void loadEdgeA(uint own, uint first, uint begin, uint end) {
  [[unroll]] for (uint i = 0u; i < kVectorsA; ++i) {
    const uint k = first + placeInA(own, i).x;
    loadedA[i] = vec4(0.0);
    if (k - begin < end - begin) loadedA[i] = floatsOf(a[(linesA[i] + offsetOfA(k)) / 4u], 0u);
    nextA[i] = (linesA[i] + offsetOfA(k + kRound)) / 4u;
  }
}

void loadNextA() {
  const uint step1 = offsetOfA(kRound) / 4u;
  [[unroll]] for (uint i = 0u; i < kVectorsA; ++i) {
    loadedA[i] = floatsOf(a[nextA[i]], 0u);
    nextA[i] += step1;
  }
}

void storeA(uint part, uint own) {
  [[unroll]] for (uint i = 0u; i < kVectorsA; ++i) {
    const uvec2 place = placeInA(own, i);
    const uint at = part * kPartA + place.x * kPitchA + place.y / 4u;
    if (aDepthFirst()) {
      [[unroll]] for (uint e = 0u; e < 4u; ++e) sharedA[at + e * kPitchA][place.y % 4u] = loadedA[i][e];
    } else {
      sharedA[at] = loadedA[i];
    }
  }
}

// Of 32 neighbours every other reads the same rows, and every other two the same columns: reads of shared memory that
// a subgroup's neighbours share cost less.
uint downOf(uint own) {
  if (kAcross == 2u) return own / 2u;
  return (own / 2u & 3u) | (own / 16u & 1u) * 4u | (own / 32u & 1u) * 8u;
}
uint acrossOf(uint own) {
  if (kAcross == 2u) return own % 2u;
  return (own & 1u) | (own / 8u & 1u) * 2u | (own / 64u & 1u) * 4u;
}

#include "matrix/tile_products.glsl"

void loadParts(uint which, uint step1, uint part, uint down, uint across) {
  [[unroll]] for (uint i = 0u; i < kFoursA; ++i)
    partA[which * kFoursA + i] = sharedA[part * kPartA + step1 * kPitchA + i * kDown + down];
  [[unroll]] for (uint i = 0u; i < kFoursB; ++i)
    partB[which * kFoursB + i] = sharedB[part * kPartB + step1 * kPitchB + i * kAcross + across];
}

void multiplyAll(uint part, uint down, uint across) {
#if DIMPLE_COMPACT
  // Unrolled, DXIL takes nine seconds to compile.
  [[dont_unroll]] for (uint k = 0u; k < kSteps; ++k) {
    loadParts(0u, k, part, down, across);
    multiply(0u);
  }
#else
  loadParts(0u, 0u, part, down, across);
  [[unroll]] for (uint k = 0u; k < kSteps; ++k) {
    if (k + 1u < kSteps) loadParts((k + 1u) & 1u, k + 1u, part, down, across);
    multiply(k & 1u);
  }
#endif
}

// Sums of the parts pass through the place of A, a few fours of each invocation at a time; each invocation adds up some
// elements of all, kEach in a pass.
const uint kAtOnce = kPartA / kLanes;
const uint kEach = kAtOnce * kLanes * 4u / 256u;
const uint kPasses = kFours / kAtOnce;  // one, three or four

// The first of four sums that pass through shared memory at once.
uint firstOf(uint pass, uint n) { return (pass * kAtOnce + n) * 4u; }

float totalOf(uint element) {
  float total = 0.0;
  [[unroll]] for (uint other = 0u; other < kParts; ++other)
    total += sharedA[other * kAtOnce * kLanes + element / 4u][element % 4u];
  return total;
}

// Where the elements of one invocation of a part, by its place among them, lie in the tile.
uvec2 placeInTile(uint place, uint four, uint e) {
  const uint i = four / kFoursB;
  return uvec2(four % kFoursB * kAcross * 4u + place % kAcross * 4u + e,
               i / 4u * kDown * 4u + place / kAcross * 4u + i % 4u);
}

// Finishes what an invocation has added up of an element of a pass.
void finishTotal(float sum, uint pass, uint element, TilePlace tile, uvec4 base) {
  const uint slot = element / 4u;
  const uvec2 at = placeInTile(slot % kLanes, pass * kAtOnce + slot / kLanes, element % 4u);
  const uint column = tile.firstColumn + at.x;
  const uint row = tile.firstRow + at.y;
  if (row >= push.rows || column >= push.columns) return;
  if ((push.flags & kToParts) != 0u)
    storePart((tile.pairAndSlice * push.rows + row) * push.columns + column, sum);
  else
    finish(sum, tile.pair, row, column, columnAt(column), base);
}

#if DIMPLE_COMPACT
// One copy of a pass, and of what finishes an element: DXIL takes half as long to compile.
float sumOf(uint pass, uint i) {
  float sum = sums[i];
  [[unroll]] for (uint other = 1u; other < kPasses; ++other)
    if (pass == other) sum = sums[firstOf(other, 0u) + i];
  return sum;
}

void finishAll(uint lane, uint part, uint place, TilePlace tile, uvec4 base) {
  [[dont_unroll]] for (uint pass = 0u; pass < kPasses; ++pass) {
    barrier();
    [[unroll]] for (uint n = 0u; n < kAtOnce; ++n)
      sharedA[(part * kAtOnce + n) * kLanes + place] =
          vec4(sumOf(pass, n * 4u), sumOf(pass, n * 4u + 1u), sumOf(pass, n * 4u + 2u), sumOf(pass, n * 4u + 3u));
    barrier();
    [[dont_unroll]] for (uint each = 0u; each < kEach; ++each) {
      const uint element = each * 256u + lane;
      finishTotal(totalOf(element), pass, element, tile, base);
    }
  }
}
#else
float results[kPasses * kEach];

void addPass(uint lane, uint part, uint place, uint pass) {
  barrier();
  [[unroll]] for (uint n = 0u; n < kAtOnce; ++n) {
    const uint first = firstOf(pass, n);
    sharedA[(part * kAtOnce + n) * kLanes + place] =
        vec4(sums[first], sums[first + 1u], sums[first + 2u], sums[first + 3u]);
  }
  barrier();
  [[unroll]] for (uint each = 0u; each < kEach; ++each) results[pass * kEach + each] = totalOf(each * 256u + lane);
}

// The row and column of an element that an invocation has added up.
uvec2 placeOfTotal(uint n, uint lane, TilePlace tile) {
  const uint element = n % kEach * 256u + lane;
  const uint slot = element / 4u;
  const uvec2 at = placeInTile(slot % kLanes, n / kEach * kAtOnce + slot / kLanes, element % 4u);
  return uvec2(tile.firstRow + at.y, tile.firstColumn + at.x);
}

bool activatesApart() { return isLongActivation(FUSED) && (push.flags & kToParts) == 0u; }

// There is one copy of a long activation, and what comes before it is unrolled: its loads overlap. NVIDIA's compiler takes
// 0.2 s for one GELU, and 0.35 for eight.
void activateAll(uint lane, TilePlace tile, uvec4 base) {
  [[unroll]] for (uint n = 0u; n < kPasses * kEach; ++n) {
    const uvec2 at = min(placeOfTotal(n, lane, tile), uvec2(push.rows, push.columns) - 1u);
    const Column column = columnAt(at.y);
    results[n] = followedFrom(results[n], at.x, column, base, addendAt(base.w + at.x * yRowStride() + column.y));
  }
  [[dont_unroll]] for (uint n = 0u; n < kPasses * kEach + hiddenZero(); ++n) {
    float own = results[0];
    [[unroll]] for (uint other = 1u; other < kPasses * kEach; ++other) own = other == n ? results[other] : own;
    own = activate(FUSED, own, activationParameters());
    [[unroll]] for (uint other = 0u; other < kPasses * kEach; ++other)
      results[other] = other == n ? own : results[other];
  }
}

void storeActivated(float value, uvec2 at, uvec4 base) {
  if (at.x < push.rows && at.y < push.columns)
    storeRaw_y(base.w + at.x * yRowStride() + columnAt(at.y).y, toRaw(value));
}

// Passes are literals: a loop over them has barriers, is not unrolled by some drivers, and would keep the sums in memory.
// Results are finished by an unrolled loop, so that loads of C overlap.
void finishAll(uint lane, uint part, uint place, TilePlace tile, uvec4 base) {
  addPass(lane, part, place, 0u);
  if (kPasses > 1u) addPass(lane, part, place, 1u);
  if (kPasses > 2u) addPass(lane, part, place, 2u);
  if (kPasses > 3u) addPass(lane, part, place, 3u);
  if (activatesApart()) {
    activateAll(lane, tile, base);
    [[unroll]] for (uint n = 0u; n < kPasses * kEach; ++n) storeActivated(results[n], placeOfTotal(n, lane, tile), base);
    return;
  }
  [[unroll]] for (uint n = 0u; n < kPasses * kEach; ++n)
    finishTotal(results[n], n / kEach, n % kEach * 256u + lane, tile, base);
}
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint part = lane / kLanes;
  const uint own = lane % kLanes;
  const TilePlace tile = placeOfTile(group, kRows, kColumns);
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, tile.pair);
  const uint down = downOf(own);
  const uint across = acrossOf(own);
  [[unroll]] for (uint i = 0u; i < kPerColumn * kPerRow; ++i) sums[i] = 0.0;

  // The first steps are zeros where the depth is not of whole rounds, so that those behind them are loaded without
  // conditions.
  const uint rounds = (tile.end - tile.begin + kRound - 1u) / kRound;
  const uint first = tile.end - rounds * kRound + part * kSteps;
  prepareA(own, base.x, tile.firstRow);
  prepareB(lane, own, base.y, tile.firstColumn);
#if DIMPLE_COMPACT
  // One copy of each, nothing ahead: DXIL takes less than half as long to compile.
  for (uint round1 = 0u; round1 < rounds; ++round1) {
    loadEdgeA(own, first + round1 * kRound, tile.begin, tile.end);
    loadEdgeB(own, first + round1 * kRound, tile.begin, tile.end);
    barrier();
    storeA(part, own);
    storeB(part, own);
    barrier();
    multiplyAll(part, down, across);
  }
#else
  loadEdgeA(own, first, tile.begin, tile.end);
  loadEdgeB(own, first, tile.begin, tile.end);
  storeA(part, own);
  storeB(part, own);
  barrier();
#if CONVOLUTION
  // The last round is apart, so that loads have no condition.
  for (uint round1 = 1u; round1 < rounds; ++round1) {
    loadNextA();
    loadNextB(own);
    multiplyAll(part, down, across);
    barrier();
    storeA(part, own);
    storeB(part, own);
    barrier();
  }
  multiplyAll(part, down, across);
#else
  // The last round is a turn of the same loop that loads the first elements for nothing: loads have no condition, which
  // is 15 % faster on an H100, and the loop stands once, with which its driver takes two thirds of the time to compile.
  uint left = rounds;
  [[dont_unroll]] for (uint turn = 0u; turn < 2u; ++turn) {
    for (uint round1 = 1u; round1 < left; ++round1) {
      loadNextA();
      loadNextB(own);
      multiplyAll(part, down, across);
      barrier();
      storeA(part, own);
      storeB(part, own);
      barrier();
    }
    left = 2u;
    [[unroll]] for (uint i = 0u; i < kVectorsA; ++i) nextA[i] = 0u;
    [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) nextB[i] = 0u;
  }
#endif
#endif

  finishAll(lane, part, down * kAcross + across, tile, base);
}
