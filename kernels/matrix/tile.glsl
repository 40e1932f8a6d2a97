// A workgroup computes TILE x TILE elements, an invocation kPer x kPer of them, from kStep steps of the depth at a
// time. While it computes with one part of A and B in shared memory the next is on its way.
const uint kTile = TILE;
const uint kStep = 1024u / kTile;
const uint kPer = kTile / 16u;
// Apart enough that neighbouring steps of the depth lie in different banks.
const uint kPitch = kTile + 4u;
const uint kLoads = kTile * kStep / 256u;

// Pairs of parts in shared memory. With 1 there are more barriers, but more workgroups run side by side.
const uint kStages = TILE == 128 ? 2u : 1u;
const uint kPart = kStep * kPitch;
shared SUM sharedA[kStages * kPart];
shared SUM sharedB[kStages * kPart];

// Whether neighbouring invocations load elements along the depth.
#if CONVOLUTION
bool aDepthFirst() { return true; }
bool bDepthFirst() { return false; }
#else
bool aDepthFirst() { return (push.flags & kADepthFirst) != 0u; }
bool bDepthFirst() { return (push.flags & kBDepthFirst) != 0u; }
#endif

// The place in the tile of the element that an invocation loads: x along the depth, y across.
uvec2 loadPlace(uint lane, uint i, bool depthFirst) {
#if VECTOR
  const uint element = (lane + i / 4u * 256u) * 4u + i % 4u;
#else
  const uint element = lane + i * 256u;
#endif
  return depthFirst ? uvec2(element % kStep, element / kStep) : uvec2(element / kTile, element % kTile);
}

// The row or column of an invocation's element: groups of four neighbours, 64 apart.
uint tilePlace(uint lane16, uint i) { return i / 4u * 64u + lane16 * 4u + i % 4u; }

#if CONVOLUTION
// The steps of the depth that are loaded next: offsets in A and B, and reach.
shared uvec2 stepOffsets[2u * kStep];
shared uvec3 stepReaches[2u * kStep];
void writeSteps(uint lane, uint first, uint which) {
  if (lane < kStep) {
    const Depth depth = depthAt(first + lane);
    stepOffsets[which * kStep + lane] = uvec2(depth.a, depth.b);
    stepReaches[which * kStep + lane] = depth.reach;
  }
}
Depth stepAt(uint which, uint step1) {
  Depth depth;
  depth.a = stepOffsets[which * kStep + step1].x;
  depth.b = stepOffsets[which * kStep + step1].y;
  depth.reach = stepReaches[which * kStep + step1];
  return depth;
}
#define DEPTH_AT(PLACE) stepAt(which, PLACE)
#else
#define DEPTH_AT(PLACE) depthAt(first + PLACE)
#endif

#if INTEGER
ZERO zerosA[kLoads];
ZERO zerosB[kLoads];
#endif
SUM loadedA[kLoads];
SUM loadedB[kLoads];

void load(uint lane, uvec4 base, uint firstRow, uint firstColumn, uint first, uint end, uint which
#if CONVOLUTION
          , Column loadColumn
#endif
) {
#if VECTOR
  // The planner has seen to it that all four elements lie inside or none, or that those outside lie in memory and in
  // columns or rows that are not stored.
  [[unroll]] for (uint i = 0u; i < kLoads; i += 4u) {
    vec4 quad = vec4(0.0);
    uvec2 place = loadPlace(lane, i, aDepthFirst());
    if (first + place.x < end && firstRow + place.y < push.rows)
      quad = floatsOf(a[(base.x + (firstRow + place.y) * aRowStride() + depthAt(first + place.x).a) / 4u], 0u);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) loadedA[i + j] = quad[j];
    quad = vec4(0.0);
    place = loadPlace(lane, i, bDepthFirst());
    if (first + place.x < end && firstColumn + place.y < push.columns)
      quad = floatsOf(b[(base.y + columnAt(firstColumn + place.y).b + depthAt(first + place.x).b) / 4u], 0u);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) loadedB[i + j] = quad[j];
  }
#else
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
#if INTEGER
    const ZERO zeroA = zerosA[i];
    const ZERO zeroB = zerosB[i];
#else
    const ZERO zeroA = 0u;
    const ZERO zeroB = 0u;
#endif
    // Elements outside are loaded from others and then made zeros: loads without conditions overlap.
    uvec2 place = loadPlace(lane, i, aDepthFirst());
    const bool insideA = first + place.x < end && firstRow + place.y < push.rows;
    const uint offsetA = base.x + (firstRow + place.y) * aRowStride() + DEPTH_AT(place.x).a;
    const SUM valueA = loadA(insideA ? offsetA : 0u, zeroA);
    loadedA[i] = insideA ? valueA : SUM(0);
    place = loadPlace(lane, i, bDepthFirst());
#if !CONVOLUTION
    const Column loadColumn = columnAt(firstColumn + place.y);
#endif
    uint offsetB;
    const bool met = meets(loadColumn, DEPTH_AT(place.x), offsetB);
    const bool insideB = met && first + place.x < end && firstColumn + place.y < push.columns;
    const SUM valueB = loadB(insideB ? base.y + offsetB : 0u, zeroB);
    loadedB[i] = insideB ? valueB : SUM(0);
  }
#endif
}

void store(uint lane, uint stage) {
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    const uvec2 placeA = loadPlace(lane, i, aDepthFirst());
    const uvec2 placeB = loadPlace(lane, i, bDepthFirst());
    sharedA[stage * kPart + placeA.x * kPitch + placeA.y] = loadedA[i];
    sharedB[stage * kPart + placeB.x * kPitch + placeB.y] = loadedB[i];
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + kTile - 1u) / kTile;
  const uint columnTiles = (push.columns + kTile - 1u) / kTile;
  const uint pairAndSlice = group / (rowTiles * columnTiles);
  const uint tile = group - pairAndSlice * (rowTiles * columnTiles);
#if INTEGER
  const uint pair = pairAndSlice;
  const uint begin = 0u;
  const uint end = push.depth;
#else
  const uint pair = pairAndSlice / push.slices;
  const uint slice = pairAndSlice - pair * push.slices;
  const uint begin = slice * push.sliceDepth;
  const uint end = min(begin + push.sliceDepth, push.depth);
#endif
  const uint firstRow = tile / columnTiles * kTile;
  const uint firstColumn = tile % columnTiles * kTile;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

#if INTEGER
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    zerosA[i] = zeroOfA(quantizedRow(pair, min(firstRow + loadPlace(lane, i, aDepthFirst()).y, push.rows - 1u)));
    zerosB[i] = zeroOfB(min(firstColumn + loadPlace(lane, i, bDepthFirst()).y, push.columns - 1u));
  }
#endif
#if CONVOLUTION
  // The same for all that this invocation loads of B.
  const Column loadColumn = columnAt(min(firstColumn + lane % kTile, push.columns - 1u));
#define LOAD(FIRST, WHICH) load(lane, base, firstRow, firstColumn, FIRST, end, WHICH, loadColumn)
  writeSteps(lane, begin, 0u);
  writeSteps(lane, begin + kStep, 1u);
  barrier();
#else
#define LOAD(FIRST, WHICH) load(lane, base, firstRow, firstColumn, FIRST, end, WHICH)
#endif

  SUM sums[kPer * kPer];
  [[unroll]] for (uint i = 0u; i < kPer * kPer; ++i) sums[i] = SUM(0);
  // 32 neighbouring invocations, a subgroup of many devices, form 4 rows of 8, so that they read little.
  const uint down = lane / 64u * 4u + lane % 32u / 8u;
  const uint across = lane / 32u % 2u * 8u + lane % 8u;

  LOAD(begin, 0u);
  store(lane, 0u);
  barrier();
  uint which = 0u;
  for (uint first = begin; first < end; first += kStep) {
    const uint next = first + kStep;
    if (next < end) LOAD(next, which ^ 1u);
    const uint part = (which & (kStages - 1u)) * kPart;
    [[unroll]] for (uint k = 0u; k < kStep; ++k) {
      SUM partA[kPer];
      SUM partB[kPer];
      [[unroll]] for (uint i = 0u; i < kPer; ++i) {
        partA[i] = sharedA[part + k * kPitch + tilePlace(down, i)];
        partB[i] = sharedB[part + k * kPitch + tilePlace(across, i)];
      }
      [[unroll]] for (uint i = 0u; i < kPer; ++i)
        [[unroll]] for (uint j = 0u; j < kPer; ++j) sums[i * kPer + j] += partA[i] * partB[j];
    }
    which ^= 1u;
    if (kStages == 1u) barrier();
    if (next < end) store(lane, which & (kStages - 1u));
#if CONVOLUTION
    writeSteps(lane, next + kStep, which ^ 1u);
#endif
    barrier();
  }

  // Four sums at a time pass through shared memory, each invocation's in places of its own, so that there is one copy
  // of what finishes them and not one for each.
  [[dont_unroll]] for (uint four = 0u; four < kPer * kPer; four += 4u) {
    [[unroll]] for (uint k = 0u; k < kPer * kPer; ++k)
      if ((k & ~3u) == four) sharedA[(k & 3u) * 256u + lane] = sums[k];
    [[dont_unroll]] for (uint k = four; k < four + 4u; ++k) {
      const uint row = firstRow + tilePlace(down, k / kPer);
      const uint column = firstColumn + tilePlace(across, k % kPer);
      if (row >= push.rows || column >= push.columns) continue;
      const SUM sum = sharedA[(k & 3u) * 256u + lane];
#if !INTEGER
      if ((push.flags & kToParts) != 0u) {
        storePart((pairAndSlice * push.rows + row) * push.columns + column, sum);
        continue;
      }
#endif
      finish(sum, pair, row, column, columnAt(column), base);
    }
  }
}
