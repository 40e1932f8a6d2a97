// A workgroup computes TILE x TILE elements, an invocation kPer x kPer of them, from kStep steps of the depth at a
// time.
const uint kTile = TILE;
const uint kStep = 1024u / kTile;
const uint kPer = kTile / 16u;
// Apart enough that neighbouring steps of the depth lie in different banks.
const uint kPitch = kTile + 4u;
const uint kLoads = kTile * kStep / 256u;

shared SUM sharedA[kStep * kPitch];
shared SUM sharedB[kStep * kPitch];

// The place in the tile of the element that an invocation loads: x along the depth, y across.
uvec2 loadPlace(uint lane, uint i, bool depthFirst) {
#if VECTOR
  const uint element = lane * 4u + i;
#else
  const uint element = lane + i * 256u;
#endif
  return depthFirst ? uvec2(element % kStep, element / kStep) : uvec2(element / kTile, element % kTile);
}

// The row or column of an invocation's element: groups of four neighbours, 64 apart.
uint tilePlace(uint lane16, uint i) { return i / 4u * 64u + lane16 * 4u + i % 4u; }

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowTiles = (push.rows + kTile - 1u) / kTile;
  const uint columnTiles = (push.columns + kTile - 1u) / kTile;
  const uint pair = group / (rowTiles * columnTiles);
  const uint tile = group - pair * (rowTiles * columnTiles);
  const uint firstRow = tile / columnTiles * kTile;
  const uint firstColumn = tile % columnTiles * kTile;
  const uvec4 base = walkOffsets(kMatrices, push.matrixRank, pair);

#if CONVOLUTION
  const bool aDepthFirst = true;
  const bool bDepthFirst = false;
  // The same for all that this invocation loads of B.
  const Column loadColumn = columnAt(min(firstColumn + lane % kTile, push.columns - 1u));
#else
  const bool aDepthFirst = (push.flags & kADepthFirst) != 0u;
  const bool bDepthFirst = (push.flags & kBDepthFirst) != 0u;
#endif
#if INTEGER
  ZERO zerosA[kLoads];
  ZERO zerosB[kLoads];
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    zerosA[i] = zeroOfA(quantizedRow(pair, min(firstRow + loadPlace(lane, i, aDepthFirst).y, push.rows - 1u)));
    zerosB[i] = zeroOfB(min(firstColumn + loadPlace(lane, i, bDepthFirst).y, push.columns - 1u));
  }
#endif

  SUM sums[kPer * kPer];
  [[unroll]] for (uint i = 0u; i < kPer * kPer; ++i) sums[i] = SUM(0);
  const uint down = lane / 16u;
  const uint across = lane % 16u;

  for (uint first = 0u; first < push.depth; first += kStep) {
    SUM loadedA[kLoads];
    SUM loadedB[kLoads];
#if VECTOR
    // The planner has seen to it that all four elements lie inside or none.
    vec4 quad = vec4(0.0);
    uvec2 place = loadPlace(lane, 0u, aDepthFirst);
    if (first + place.x < push.depth && firstRow + place.y < push.rows)
      quad = floatsOf(a[(base.x + (firstRow + place.y) * aRowStride() + depthAt(first + place.x).a) / 4u]);
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) loadedA[i] = quad[i];
    quad = vec4(0.0);
    place = loadPlace(lane, 0u, bDepthFirst);
    if (first + place.x < push.depth && firstColumn + place.y < push.columns)
      quad = floatsOf(b[(base.y + columnAt(firstColumn + place.y).b + depthAt(first + place.x).b) / 4u]);
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) loadedB[i] = quad[i];
#else
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
#if INTEGER
      const ZERO zeroA = zerosA[i];
      const ZERO zeroB = zerosB[i];
#else
      const ZERO zeroA = 0u;
      const ZERO zeroB = 0u;
#endif
      loadedA[i] = SUM(0);
      loadedB[i] = SUM(0);
      uvec2 place = loadPlace(lane, i, aDepthFirst);
      if (first + place.x < push.depth && firstRow + place.y < push.rows)
        loadedA[i] = loadA(base.x + (firstRow + place.y) * aRowStride() + depthAt(first + place.x).a, zeroA);
      place = loadPlace(lane, i, bDepthFirst);
      if (first + place.x < push.depth && firstColumn + place.y < push.columns) {
#if !CONVOLUTION
        const Column loadColumn = columnAt(firstColumn + place.y);
#endif
        uint offset;
        if (meets(loadColumn, depthAt(first + place.x), offset)) loadedB[i] = loadB(base.y + offset, zeroB);
      }
    }
#endif
    // Loads come before the barrier, so that they overlap what others still compute of the step before.
    barrier();
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
      const uvec2 placeA = loadPlace(lane, i, aDepthFirst);
      const uvec2 placeB = loadPlace(lane, i, bDepthFirst);
      sharedA[placeA.x * kPitch + placeA.y] = loadedA[i];
      sharedB[placeB.x * kPitch + placeB.y] = loadedB[i];
    }
    barrier();
    for (uint k = 0u; k < kStep; ++k) {
      SUM partA[kPer];
      SUM partB[kPer];
      [[unroll]] for (uint i = 0u; i < kPer; ++i) {
        partA[i] = sharedA[k * kPitch + tilePlace(down, i)];
        partB[i] = sharedB[k * kPitch + tilePlace(across, i)];
      }
      [[unroll]] for (uint i = 0u; i < kPer; ++i)
        [[unroll]] for (uint j = 0u; j < kPer; ++j) sums[i * kPer + j] += partA[i] * partB[j];
    }
  }

  // Four sums at a time pass through shared memory, each invocation's in places of its own, so that there is one copy
  // of what finishes them and not one for each.
  barrier();
  [[dont_unroll]] for (uint four = 0u; four < kPer * kPer; four += 4u) {
    [[unroll]] for (uint k = 0u; k < kPer * kPer; ++k)
      if ((k & ~3u) == four) sharedA[(k & 3u) * 256u + lane] = sums[k];
    [[dont_unroll]] for (uint k = four; k < four + 4u; ++k) {
      const uint row = firstRow + tilePlace(down, k / kPer);
      const uint column = firstColumn + tilePlace(across, k % kPer);
      if (row < push.rows && column < push.columns)
        finish(sharedA[(k & 3u) * 256u + lane], pair, row, column, columnAt(column), base);
    }
  }
}
