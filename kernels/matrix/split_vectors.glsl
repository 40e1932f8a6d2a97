// How split_tile.glsl loads B in vectors of four elements along its columns or depth, as A: the planner has seen to it
// that all four elements lie inside or none, or that those outside lie in memory and in columns that are not stored.
const uint kVectorsB = kColumns * kSteps / 4u / kLanes;
uint linesB[kVectorsB];
uint nextB[kVectorsB];
vec4 loadedB[kVectorsB];

uvec2 placeInB(uint own, uint i) { return placeOf((own + i * kLanes) * 4u, kColumns, bDepthFirst()); }

void prepareB(uint lane, uint own, uint base, uint firstColumn) {
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    const uint column = firstColumn + placeInB(own, i).y;
    linesB[i] = base + columnAt(column < push.columns ? column : 0u).b;
  }
}

void loadEdgeB(uint own, uint first, uint begin, uint end) {
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    const uint k = first + placeInB(own, i).x;
    loadedB[i] = vec4(0.0);
    if (k - begin < end - begin) loadedB[i] = floatsOf(b[(linesB[i] + depthAt(k).b) / 4u], 0u);
    nextB[i] = (linesB[i] + depthAt(k + kRound).b) / 4u;
  }
}

void loadNextB(uint own) {
  const uint step1 = depthAt(kRound).b / 4u;
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    loadedB[i] = floatsOf(b[nextB[i]], 0u);
    nextB[i] += step1;
  }
}

void storeB(uint part, uint own) {
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    const uvec2 place = placeInB(own, i);
    const uint at = part * kPartB + place.x * kPitchB + place.y / 4u;
    if (bDepthFirst()) {
      [[unroll]] for (uint e = 0u; e < 4u; ++e) sharedB[at + e * kPitchB][place.y % 4u] = loadedB[i][e];
    } else {
      sharedB[at] = loadedB[i];
    }
  }
}
