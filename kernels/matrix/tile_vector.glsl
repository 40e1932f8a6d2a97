// How tile.glsl loads parts of A and B in vectors of four elements along their rows, columns or depth. The planner has
// seen to it that all four elements lie inside or none, or that those outside lie in memory and in columns or rows that
// are not stored.
const uint kVectorsB = kColumns / kRows;  // that an invocation loads of a part of B
uvec2 placeA, placeB[kVectorsB];
uint lineA, lineB[kVectorsB];  // offsets of the row of A and the column of B
uint nextA, nextB[kVectorsB];  // offsets of what is loaded next, in vectors
uint stepA, stepB;             // from one part to the next
vec4 loadedA, loadedB[kVectorsB];

void loadFrom(uint begin) {
  nextA = (lineA + depthAt(begin + placeA.x).a) / 4u;
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) nextB[i] = (lineB[i] + depthAt(begin + placeB[i].x).b) / 4u;
}

void prepareLoads(uint lane, uint pair, uvec4 base, uint firstRow, uint firstColumn, uint begin) {
  // Rows and columns that are not stored are others'.
  placeA = placeOf(lane * 4u, kRows, aDepthFirst());
  const uint row = firstRow + placeA.y < push.rows ? firstRow + placeA.y : 0u;
  lineA = base.x + row * aRowStride();
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    placeB[i] = placeOf((lane + i * 256u) * 4u, kColumns, bDepthFirst());
    const uint column = firstColumn + placeB[i].y < push.columns ? firstColumn + placeB[i].y : 0u;
    lineB[i] = base.y + columnAt(column).b;
  }
  stepA = depthAt(kStep).a / 4u;
  stepB = depthAt(kStep).b / 4u;
  loadFrom(begin);
}

// The part at `first`, of which steps before `begin` and from `end` on are zeros. The former may be below zero, and
// wrap.
void loadEdge(uint first, uint begin, uint end) {
  loadFrom(first);
  loadedA = vec4(0.0);
  if (first + placeA.x - begin < end - begin) loadedA = floatsOf(a[nextA], 0u);
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    loadedB[i] = vec4(0.0);
    if (first + placeB[i].x - begin < end - begin) loadedB[i] = floatsOf(b[nextB[i]], 0u);
  }
}

// Loads without conditions overlap.
void loadWhole(bool goOn) {
  loadedA = floatsOf(a[nextA], 0u);
  nextA += goOn ? stepA : 0u;
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    loadedB[i] = floatsOf(b[nextB[i]], 0u);
    nextB[i] += goOn ? stepB : 0u;
  }
}

void prepareNext(uint lane, uint first, uint which) {}

void load(uint lane, uvec4 base, uint firstRow, uint firstColumn, uint first, uint end, uint which) {
  if (first + kStep <= end)
    loadWhole(true);
  else
    loadEdge(first, 0u, end);
}

void store(uint lane, uint stage) {
  if (aDepthFirst()) {
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
      sharedA[stage * kPartA + (placeA.x + e) * kPitchA + placeA.y / 4u][placeA.y % 4u] = loadedA[e];
  } else {
    sharedA[stage * kPartA + placeA.x * kPitchA + placeA.y / 4u] = loadedA;
  }
  [[unroll]] for (uint i = 0u; i < kVectorsB; ++i) {
    const uvec2 place = placeB[i];
    if (bDepthFirst()) {
      [[unroll]] for (uint e = 0u; e < 4u; ++e)
        sharedB[stage * kPartB + (place.x + e) * kPitchB + place.y / 4u][place.y % 4u] = loadedB[i][e];
    } else {
      sharedB[stage * kPartB + place.x * kPitchB + place.y / 4u] = loadedB[i];
    }
  }
}
