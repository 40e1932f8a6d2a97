// How invocations load parts of A and B in vectors of eight, up to kRings pairs ahead in registers, and bring them to
// shared memory, where weights are dequantized (INTEGER_WEIGHTS). LOADERS invocations load together what LOADED_ROWS
// rows and LOADED_COLUMNS columns take; `lane` is the place of one among them. A part lies in `staged`, B's kPartA vectors behind A's. CHANNELS_LAST and GATHERED: how B is
// read (cooperative_ahead.comp, cooperative_split.comp).

// Whole ones of tiles that plans have.
const uint kLoadsA = (LOADED_ROWS * TILE_DEPTH / 8u + LOADERS - 1u) / LOADERS;
#if INTEGER_WEIGHTS
const uint kOfItemB = 16u;  // that have one scale
#else
const uint kOfItemB = 8u;
#endif
const uint kLoadsB = (LOADED_COLUMNS * TILE_DEPTH / kOfItemB + LOADERS - 1u) / LOADERS;
uint nextA[kLoadsA];  // which vectors are loaded next
#if GATHERED
Column nextB[kLoadsB];  // of which windows
uint batchB;            // where their input begins
#else
uint nextB[kLoadsB];
#endif
#if CHANNELS_LAST
uint tapsB[kLoadsB];            // which elements of their windows lie inside the input
bool insideB[kRings * kLoadsB];  // whether what is loaded does
int leftB[kRings];               // channels of a line from the part's first one on
#endif
#if INTEGER_WEIGHTS
#include "matrix/weight_halves.glsl"
layout(set = 0, binding = BINDING_b, std430) readonly buffer bNibblesBuffer { uvec2 nibbles[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBytesBuffer { uvec4 bytes[]; };
const uint kWords = BITS / 2u;  // of sixteen weights
uvec2 blocksB[kLoadsB];         // the columns' first scales and zero points
// What is loaded is not touched before it is stored, so that nothing waits for it.
uint wordsB[kRings * kLoadsB * kWords];
uint scalesB[kRings * kLoadsB];  // words that hold the scales and the zero points
uint zerosB[kRings * kLoadsB];
uvec2 shiftsB[kRings * kLoadsB];  // where in these words
uvec4 preparedB[kLoadsB * 2u];
#endif
#if CONVOLUTION || INTEGER_WEIGHTS
uint nextStep;  // the first of the part that is loaded next: nextB are vectors of the first step of all
#endif
uvec4 loadedA[kRings * kLoadsA];
#if GATHERED
uint loadedB[kRings * kLoadsB * 8u];
bool insideB[kRings * kLoadsB];
#elif !INTEGER_WEIGHTS
uvec4 loadedB[kRings * kLoadsB];
#endif

// Where the eight elements of an item begin: x along the depth, y across. Eight neighbours, which store together, take
// lines along the depth whose places in shared memory lie in different banks.
uvec2 itemPlace(uint item, bool across, uint tile) {
  if (across) return uvec2(item / (tile / 8u), item % (tile / 8u) * 8u);
  const uint lines = 8u / kLine;
  const uint line = item % (8u * kLine) / kLine;
  return uvec2(item % kLine * 8u, item / (8u * kLine) * 8u + line % lines * kLine + line / lines);
}

#if GATHERED
// Eight channels of a window: neighbours take neighbouring windows, which lie side by side.
uvec2 itemPlaceB(uint item) { return uvec2(item / LOADED_COLUMNS * 8u, item % LOADED_COLUMNS); }

// Loads those of the part that begins at a step; of one before the first, zeros.
void gather(uint ring, uint lane, uint first, bool exists) {
  const Depth depth = channelsAt(exists ? first : 0u);
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    uint offset;
    const bool inside = meets(nextB[i], depth, offset) && exists;
    const uint at = batchB + (inside ? offset : 0u) + itemPlaceB(lane + i * LOADERS).x * parameters[0].z;
    [[unroll]] for (uint e = 0u; e < 8u; ++e)
      loadedB[(ring * kLoadsB + i) * 8u + e] = loadRaw_b(at + e * parameters[0].z);
    insideB[ring * kLoadsB + i] = inside;
  }
}

void prepare(uint ring) {}
uvec4 eightOfB(uint at) {
  uvec4 result;
  [[unroll]] for (uint e = 0u; e < 4u; ++e)
    result[e] = loadedB[at * 8u + 2u * e] | (loadedB[at * 8u + 2u * e + 1u] << 16u);
  return insideB[at] ? result : uvec4(0u);
}
#else
#if INTEGER_WEIGHTS
// Eight neighbours take eight lines, whose places in shared memory lie in different banks.
uvec2 itemPlaceB(uint item) {
  const uint ofLine = TILE_DEPTH / kOfItemB;
  return uvec2(item / 8u % ofLine * kOfItemB, item / (8u * ofLine) * 8u + item % 8u);
}

// Of the part that begins at a step; steps before `before` come before all others and count as zeros.
void loadWeights(uint ring, uint lane, uint before) {
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uint at = ring * kLoadsB + i;
    const uint place = itemPlaceB(lane + i * LOADERS).x;
    const bool inside = place >= before;
    const uint k = inside ? nextStep + place : 0u;
    const uint vector = (nextB[i] + k) / kOfItemB;
    uvec4 words;
    if (BITS == 4u)
      words.xy = nibbles[vector];
    else
      words = bytes[vector];
    [[unroll]] for (uint w = 0u; w < kWords; ++w) wordsB[at * kWords + w] = words[w];
    const uvec2 block = blockAt(blocksB[i], k);
    const uint word = scale[block.x / 2u];
    scalesB[at] = before == 0u || inside ? word : 0u;
    if (push.zeroAt == kZeroGiven) zerosB[at] = zeroWordAt(block.y);
    shiftsB[at] = uvec2(block.x % 2u * 16u, block.y * BITS % 32u);
  }
}

// Dequantizes what is stored next; by then loads have arrived while other parts were multiplied.
void prepare(uint ring) {
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uint at = ring * kLoadsB + i;
    // A call here would be a branch.
    const uint zeroPoint = push.zeroAt == kZeroGiven
                               ? bitfieldExtract(zerosB[at] ^ push.signs, int(shiftsB[at].y), int(BITS))
                               : push.zeroAt;
    const HalfParameters p = halfParameters(scalesB[at] >> shiftsB[at].x & 0xffffu, zeroPoint);
    [[unroll]] for (uint v = 0u; v < 2u; ++v) {
      const uint first = at * kWords + v * (kWords / 2u);
      if (BITS == 4u)
        preparedB[2u * i + v] = eightNibbles(wordsB[first], p);
      else
        preparedB[2u * i + v] = uvec4(fourBytes(wordsB[first], p), fourBytes(wordsB[first + kWords / 2u - 1u], p));
    }
  }
}
#else
uvec2 itemPlaceB(uint item) { return itemPlace(item, kAcrossB, LOADED_COLUMNS); }
void prepare(uint ring) {}
#if CHANNELS_LAST
// What lies outside becomes zeros here and not where it is loaded, which would wait for it.
uvec4 eightOfB(uint at) {
  if ((B_READS & kEdges) == 0u) return loadedB[at];
  return insideB[at] ? loadedB[at] : uvec4(0u);
}
#else
uvec4 eightOfB(uint at) { return loadedB[at]; }
#endif
#endif
#endif

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
#if GATHERED
  nextStep = first;
  batchB = base.y;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    nextB[i] = columnAt(min(place.y + itemPlaceB(lane + i * LOADERS).y, push.columns - 1u));
  return uvec2(kLine);
#elif CHANNELS_LAST
  nextStep = first;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 item = itemPlaceB(lane + i * LOADERS);
    const Column at = columnAt(min(place.y + item.y, push.columns - 1u));
    nextB[i] = uint(int(base.y + windowOffset(at) + item.x) >> 3);
    if ((B_READS & kEdges) != 0u) tapsB[i] = tapsInside(at);
  }
  return uvec2(kLine);
#elif INTEGER_WEIGHTS
  nextStep = first;
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uint column = min(place.y + itemPlaceB(lane + i * LOADERS).y, push.columns - 1u);
    nextB[i] = base.y + columnAt(column).b;
    blocksB[i] = firstBlockOf(column);
  }
  return uvec2(kLine * (kAcrossA ? depthAt(1u).a : 1u), kLine);
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i)
    nextB[i] = vectorOf(itemPlaceB(lane + i * LOADERS), kAcrossB, base.y, place.y, push.columns,
                        kAcrossB ? 1u : columnAt(1u).b, kAcrossB ? depthAt(1u).b : 1u, first);
  return kLine * uvec2(kAcrossA ? depthAt(1u).a : 1u, kAcrossB ? depthAt(1u).b : 1u);
#endif
}

#if CHANNELS_LAST
// The vectors of the part that begins at nextStep; of one before the first, zeros.
void loadChannels(uint ring, bool exists) {
  const uint step1 = exists ? stepOffset(nextStep) / 8u : 0u;
  const uint tap = exists ? tapOf(nextStep) : 0u;
  if ((B_READS & kOfLines) != 0u)
    leftB[ring] = int(parameters[kChannels + 1u].x) - int(nextStep - tap * parameters[kChannels].x);
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    if ((B_READS & kEdges) != 0u) {
      const bool inside = exists && (tapsB[i] >> tap & 1u) != 0u;
      insideB[ring * kLoadsB + i] = inside;
      loadedB[ring * kLoadsB + i] = bVectors[inside ? nextB[i] + step1 : 0u];
    } else {
      const uvec4 loaded = bVectors[nextB[i] + step1];
      loadedB[ring * kLoadsB + i] = exists ? loaded : uvec4(0u);
    }
  }
}
#endif

void load(uint ring, uint lane, uvec2 advance) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    loadedA[ring * kLoadsA + i] = aVectors[nextA[i]];
    nextA[i] += advance.x;
  }
#if GATHERED
  gather(ring, lane, nextStep, true);
  nextStep += advance.y * 8u;
#elif CHANNELS_LAST
  loadChannels(ring, true);
  nextStep += advance.y * 8u;
#elif INTEGER_WEIGHTS
  loadWeights(ring, lane, 0u);
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
#if GATHERED
  gather(ring, lane, nextStep, before == 0u);
  nextStep += TILE_DEPTH;
#elif CHANNELS_LAST
  loadChannels(ring, before == 0u);  // parts are of whole ones
  if (!isLast) nextStep += TILE_DEPTH;
#elif INTEGER_WEIGHTS
  loadWeights(ring, lane, before);
  if (!isLast) nextStep += TILE_DEPTH;
#else
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const bool inside = itemPlaceB(lane + i * LOADERS).x >= before;
    const uvec4 loaded = bVectors[inside ? nextB[i] : 0u];
    loadedB[ring * kLoadsB + i] = inside ? loaded : uvec4(0u);
    nextB[i] = isLast ? (inside ? nextB[i] : 0u) : nextB[i] + advance.y;
  }
#endif
}

// What was prepared.
void store(uint ring, uint lane, uint at) {
  [[unroll]] for (uint i = 0u; i < kLoadsA; ++i) {
    const uvec2 place = itemPlace(lane + i * LOADERS, kAcrossA, LOADED_ROWS);
    staged[at + itemAt(place, kAcrossA, kPitchA)] = loadedA[ring * kLoadsA + i];
  }
  [[unroll]] for (uint i = 0u; i < kLoadsB; ++i) {
    const uvec2 place = itemPlaceB(lane + i * LOADERS);
    const uint to = at + kPartA + itemAt(place, kAcrossB, kPitchB);
#if INTEGER_WEIGHTS
    staged[to] = preparedB[2u * i];
    staged[to + 1u] = preparedB[2u * i + 1u];
#else
    uvec4 eight = eightOfB(ring * kLoadsB + i);
#if CHANNELS_LAST
    if ((B_READS & kOfLines) != 0u) eight = channelsOfLine(eight, leftB[ring] - int(place.x));
#endif
    staged[to] = eight;
#endif
  }
}
