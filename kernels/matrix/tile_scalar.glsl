// How tile.glsl loads parts of A and B, an element at a time.
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
Column loadColumn;  // the same for all that an invocation loads of B
#else
#define DEPTH_AT(PLACE) depthAt(first + PLACE)
#endif

const uint kLoads = kRows * kStep / kLanes;
#if INTEGER
ZERO zerosA[kLoads];
ZERO zerosB[kLoads];
#endif
SUM loadedA[kLoads];
SUM loadedB[kLoads];

// The place of the element that an invocation loads.
uvec2 loadPlace(uint lane, uint i, bool depthFirst) { return placeOf(lane + i * kLanes, kRows, depthFirst); }

void prepareLoads(uint lane, uint pair, uvec4 base, uint firstRow, uint firstColumn, uint begin) {
#if INTEGER
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    zerosA[i] = zeroOfA(quantizedRow(pair, min(firstRow + loadPlace(lane, i, aDepthFirst()).y, push.rows - 1u)));
    zerosB[i] = zeroOfB(min(firstColumn + loadPlace(lane, i, bDepthFirst()).y, push.columns - 1u));
  }
#endif
#if CONVOLUTION
  loadColumn = columnAt(min(firstColumn + lane % kColumns, push.columns - 1u));
  writeSteps(lane, begin, 0u);
  writeSteps(lane, begin + kStep, 1u);
  barrier();
#endif
}

// Before the part that begins at `first` is loaded.
void prepareNext(uint lane, uint first, uint which) {
#if CONVOLUTION
  writeSteps(lane, first, which);
#endif
}

void load(uint lane, uvec4 base, uint firstRow, uint firstColumn, uint first, uint end, uint which) {
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
}

void store(uint lane, uint stage) {
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
    const uvec2 ofA = loadPlace(lane, i, aDepthFirst());
    const uvec2 ofB = loadPlace(lane, i, bDepthFirst());
    sharedA[stage * kPartA + ofA.x * kPitchA + ofA.y / 4u][ofA.y % 4u] = loadedA[i];
    sharedB[stage * kPartB + ofB.x * kPitchB + ofB.y / 4u][ofB.y % 4u] = loadedB[i];
  }
}
