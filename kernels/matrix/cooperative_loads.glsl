// How invocations load parts of A and B in vectors of eight, kStages pairs ahead in registers, and bring them to shared
// memory. LOADERS invocations load together what LOADED_ROWS rows and LOADED_COLUMNS columns take; `lane` is the
// place of one among them. A part lies in `staged`, B's kPartA vectors behind A's.

// Whole ones of tiles that plans have.
const uint kLoadsA = (LOADED_ROWS * TILE_DEPTH / 8u + LOADERS - 1u) / LOADERS;
const uint kLoadsB = (LOADED_COLUMNS * TILE_DEPTH / 8u + LOADERS - 1u) / LOADERS;
uint nextA[kLoadsA];  // which vectors are loaded next
uint nextB[kLoadsB];
#if CHANNELS_LAST
uint nextStep;  // the first of the part that is loaded next: nextB are vectors of the first step of all
#endif
uvec4 loadedA[kStages * kLoadsA];
uvec4 loadedB[kStages * kLoadsB];

// Where the eight elements of an item begin: x along the depth, y across. Eight neighbours, which store together, take
// lines along the depth whose places in shared memory lie in different banks.
uvec2 itemPlace(uint item, bool across, uint tile) {
  if (across) return uvec2(item / (tile / 8u), item % (tile / 8u) * 8u);
  const uint lines = 8u / kLine;
  const uint line = item % (8u * kLine) / kLine;
  return uvec2(item % kLine * 8u, item / (8u * kLine) * 8u + line % lines * kLine + line / lines);
}

// Which vector of an operand they are in the first part; modulo 2^32, as those before the first step may be. What lies
// behind the last row or column makes only sums that are not stored: it is read from the last ones.
uint vectorOf(uvec2 place, bool across, uint base, uint first, uint size, uint stride, uint depthStride, uint begin) {
  const uint line = min(first + place.y, size - (across ? 8u : 1u));
  const uint offset = base + line * stride + (begin + place.x) * depthStride;
  return uint(int(offset) >> 3);
}

// Makes a part that begins at the step `first` the next one; `place`: the row and column of what is computed. Gives the
// vectors from a part to the next.
uvec2 startLoads(uint lane, uvec2 place, uvec4 base, uint first) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i)
    nextA[i] = vectorOf(itemPlace(lane + i * LOADERS, kAcrossA, LOADED_ROWS), kAcrossA, base.x, place.x, push.rows,
                        kAcrossA ? 1u : aRowStride(), kAcrossA ? depthAt(1u).a : 1u, first);
#if CHANNELS_LAST
  nextStep = first;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 item = itemPlace(lane + i * LOADERS, false, LOADED_COLUMNS);
    nextB[i] = (base.y + windowOffset(min(place.y + item.y, push.columns - 1u)) + item.x) / 8u;
  }
  return uvec2(kLine);
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    nextB[i] = vectorOf(itemPlace(lane + i * LOADERS, kAcrossB, LOADED_COLUMNS), kAcrossB, base.y, place.y, push.columns,
                        kAcrossB ? 1u : columnAt(1u).b, kAcrossB ? depthAt(1u).b : 1u, first);
  return kLine * uvec2(kAcrossA ? depthAt(1u).a : 1u, kAcrossB ? depthAt(1u).b : 1u);
#endif
}

void load(uint ring, uvec2 advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    loadedA[ring * kLoadsA + i] = aVectors[nextA[i]];
    nextA[i] += advance.x;
  }
#if CHANNELS_LAST
  const uint step1 = stepOffset(nextStep) / 8u;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) loadedB[ring * kLoadsB + i] = bVectors[nextB[i] + step1];
  nextStep += advance.y * 8u;
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    loadedB[ring * kLoadsB + i] = bVectors[nextB[i]];
    nextB[i] += advance.y;
  }
#endif
}

// The same of a part whose first `before` steps come before all others and count as zeros. Where no part follows, it is
// loaded once more, but for what lies before the first step.
void loadPartly(uint ring, uint lane, uint before, bool isLast, uvec2 advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    const bool inside = itemPlace(lane + i * LOADERS, kAcrossA, LOADED_ROWS).x >= before;
    const uvec4 loaded = aVectors[inside ? nextA[i] : 0u];
    loadedA[ring * kLoadsA + i] = inside ? loaded : uvec4(0u);
    nextA[i] = isLast ? (inside ? nextA[i] : 0u) : nextA[i] + advance.x;
  }
#if CHANNELS_LAST
  // Parts are of whole ones.
  const bool inside = before == 0u;
  const uint step1 = inside ? stepOffset(nextStep) / 8u : 0u;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec4 loaded = bVectors[nextB[i] + step1];
    loadedB[ring * kLoadsB + i] = inside ? loaded : uvec4(0u);
  }
  if (!isLast) nextStep += TILE_DEPTH;
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const bool inside = itemPlace(lane + i * LOADERS, kAcrossB, LOADED_COLUMNS).x >= before;
    const uvec4 loaded = bVectors[inside ? nextB[i] : 0u];
    loadedB[ring * kLoadsB + i] = inside ? loaded : uvec4(0u);
    nextB[i] = isLast ? (inside ? nextB[i] : 0u) : nextB[i] + advance.y;
  }
#endif
}

void store(uint ring, uint lane, uint at) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    const uvec2 place = itemPlace(lane + i * LOADERS, kAcrossA, LOADED_ROWS);
    staged[at + itemAt(place, kAcrossA, kPitchA)] = loadedA[ring * kLoadsA + i];
  }
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 place = itemPlace(lane + i * LOADERS, kAcrossB, LOADED_COLUMNS);
    staged[at + kPartA + itemAt(place, kAcrossB, kPitchB)] = loadedB[ring * kLoadsB + i];
  }
}
