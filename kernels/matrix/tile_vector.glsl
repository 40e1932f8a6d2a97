// How tile.glsl loads parts of A and B in vectors of four elements along their rows, columns or depth. The planner has
// seen to it that all four elements lie inside or none, or that those outside lie in memory and in columns or rows that
// are not stored.
uvec2 placeA, placeB;
uint lineA, lineB;  // offsets of the row of A and the column of B
uint nextA, nextB;  // offsets of what is loaded next, in vectors
uint stepA, stepB;  // from one part to the next
vec4 loadedA, loadedB;

void loadFrom(uint begin) {
  nextA = (lineA + depthAt(begin + placeA.x).a) / 4u;
  nextB = (lineB + depthAt(begin + placeB.x).b) / 4u;
}

void prepareLoads(uint lane, uint pair, uvec4 base, uint firstRow, uint firstColumn, uint begin) {
  placeA = placeOf(lane * 4u, kRows, aDepthFirst());
  placeB = placeOf(lane * 4u, kColumns, bDepthFirst());
  // Rows and columns that are not stored are others'.
  const uint row = firstRow + placeA.y < push.rows ? firstRow + placeA.y : 0u;
  const uint column = firstColumn + placeB.y < push.columns ? firstColumn + placeB.y : 0u;
  lineA = base.x + row * aRowStride();
  lineB = base.y + columnAt(column).b;
  stepA = depthAt(kStep).a / 4u;
  stepB = depthAt(kStep).b / 4u;
  loadFrom(begin);
}

// Loads without conditions overlap.
void loadWhole(bool goOn) {
  loadedA = floatsOf(a[nextA], 0u);
  loadedB = floatsOf(b[nextB], 0u);
  nextA += goOn ? stepA : 0u;
  nextB += goOn ? stepB : 0u;
}

// From here on, the first elements are loaded.
void loadNothing() { nextA = nextB = stepA = stepB = 0u; }

// The part at `first`, of which steps before `begin` and from `end` on are zeros. The former may be below zero, and
// wrap.
void loadEdge(uint first, uint begin, uint end) {
  loadFrom(first);
  loadedA = vec4(0.0);
  loadedB = vec4(0.0);
  if (first + placeA.x - begin < end - begin) loadedA = floatsOf(a[nextA], 0u);
  if (first + placeB.x - begin < end - begin) loadedB = floatsOf(b[nextB], 0u);
}

// One of the first two parts, whether others follow it or not.
void loadFirst(uint first, uint begin, uint end, bool goOn) {
  if (isWhole())
    loadWhole(goOn);
  else
    loadEdge(first, begin, end);
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
  if (bDepthFirst()) {
    [[unroll]] for (uint e = 0u; e < 4u; ++e)
      sharedB[stage * kPartB + (placeB.x + e) * kPitchB + placeB.y / 4u][placeB.y % 4u] = loadedB[e];
  } else {
    sharedB[stage * kPartB + placeB.x * kPitchB + placeB.y / 4u] = loadedB;
  }
}
