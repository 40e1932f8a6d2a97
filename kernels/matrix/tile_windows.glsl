// How tile.glsl loads parts of A from filters that lie side by side, in vectors of four, and of B from the windows of a
// forward convolution, an element at a time. A window has at most kMaxTaps elements. Whether they lie inside the input
// is a bit for each element of each dimension, of which all dimensions have 31 at most.
//   parameters[2]   {elements of the window and their divisor}
#include "common/elsewhere.glsl"

const uint kMaxTaps = 128u;
const uint kNone = 0x80000000u;        // no window's bit
shared uvec2 sharedWindows[kColumns];  // offset of the first element, bits of those inside
shared uvec2 sharedTaps[kMaxTaps];     // offset from the window's first element, its bit of each dimension

// Neighbouring invocations load elements of as many neighbouring columns.
const uint kNeighbours = 32u;
const uint kWindows = kColumns / kNeighbours;           // columns of an invocation
const uint kOwnSteps = kStep * kNeighbours / kLanes;  // and its steps of a part, as far apart as kLoaders are
const uint kLoaders = kLanes / kNeighbours;
uvec2 placeA, placeB;
uint lineA;     // offset of the row of A
uint nextA;     // offset of what is loaded next, in vectors
uint nextStep;  // the step of the depth that is loaded next of B
uint partStep;  // from one part to the next
uint noBits;    // kNone if nothing is loaded of B
vec4 loadedA;
float loadedB[kOwnSteps * kWindows];

uint offsetOfA(uint k) { return k * parameters[8].y; }

void loadFrom(uint begin) {
  nextA = (lineA + offsetOfA(begin + placeA.x)) / 4u;
  nextStep = begin + placeB.x;
}

uvec2 windowOf(uint base, uint column) {
  const Column at = columnAt(min(column, push.columns - 1u));
  uvec2 window = uvec2(base + at.b, 0u);
  uint bit = 1u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uint count = parameters[first + 1u].x;
    const uvec4 input1 = parameters[first + 2u];
    // Places before the first wrap to large ones.
    const uint place = at.at[d] - input1.w;
    window.x += place * parameters[first + 4u].x;
    for (uint tap = 0u; tap < count; ++tap) {
      if (place + tap * input1.z < input1.x) window.y |= bit;
      bit <<= 1u;
    }
  }
  if (!at.hasWindow || column >= push.columns) window.y = 0u;
  return window;
}

uvec2 tapOf(uint tap) {
  uint rest = tap;
  uvec2 result = uvec2(offsetOfTap(tap), 0u);
  uint before = 0u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uvec4 size = parameters[4u + d * kPerDimension + 1u];
    const uint quotient = divideBy(rest, size);
    result.y |= 1u << (before + rest - quotient * size.x);
    before += size.x;
    rest = quotient;
  }
  return result;
}

void prepareLoads(uint lane, uint pair, uvec4 base, uint firstRow, uint firstColumn, uint begin) {
  placeA = placeOf(lane * 4u, kRows, false);
  // Rows that are not stored are others'.
  lineA = base.x + (firstRow + placeA.y < push.rows ? firstRow + placeA.y : 0u);
  placeB = placeOf(lane, kNeighbours, false);
  if (lane < kColumns) sharedWindows[lane] = windowOf(base.y, firstColumn + lane);
  // By others, if there are as many.
  if (kLanes - 1u - lane < parameters[2].x) sharedTaps[kLanes - 1u - lane] = tapOf(kLanes - 1u - lane);
  partStep = kStep;
  noBits = 0u;
  loadFrom(begin);
  barrier();
}

// Elements outside are loaded from others and then made zeros: loads without conditions overlap. `bits`: those that no
// window has for a step that is to be zeros.
void loadStep(uint own, uint bits) {
  const uint k = nextStep + own * kLoaders;
  const uint channel = divideBy(k, parameters[2]);
  const uvec2 tap = sharedTaps[k - channel * parameters[2].x];
  const uint offset = channel * parameters[0].z + tap.x;
  [[unroll]] for (uint i = 0u; i < kWindows; ++i) {
    const uvec2 window = sharedWindows[placeB.y + i * kNeighbours];
    const bool inside = (~window.y & (tap.y | bits)) == 0u;
    const float value = loadB(inside ? window.x + offset : kElsewhere, 0u);
    loadedB[own * kWindows + i] = inside || kReadsZeros ? value : 0.0;
  }
}

void loadWhole(bool goOn) {
  loadedA = floatsOf(a[nextA], 0u);
  [[unroll]] for (uint own = 0u; own < kOwnSteps; ++own) loadStep(own, noBits);
  nextA += goOn ? offsetOfA(partStep) / 4u : 0u;
  nextStep += goOn ? partStep : 0u;
}

// From here on, the first elements are loaded.
void loadNothing() {
  nextA = partStep = 0u;
  noBits = kNone;
}

// The part at `first`, of which steps before `begin` and from `end` on are zeros. The former may be below zero, and
// wrap.
void loadFirst(uint first, uint begin, uint end, bool goOn) {
  loadFrom(first);
  loadedA = vec4(0.0);
  if (first + placeA.x - begin < end - begin) loadedA = floatsOf(a[nextA], 0u);
  [[unroll]] for (uint own = 0u; own < kOwnSteps; ++own)
    loadStep(own, nextStep + own * kLoaders - begin < end - begin ? 0u : kNone);
}

void store(uint lane, uint stage) {
  sharedA[stage * kPartA + placeA.x * kPitchA + placeA.y / 4u] = loadedA;
  [[unroll]] for (uint own = 0u; own < kOwnSteps; ++own)
    [[unroll]] for (uint i = 0u; i < kWindows; ++i) {
      const uint at = stage * kPartB + (placeB.x + own * kLoaders) * kPitchB;
      const uint column = placeB.y + i * kNeighbours;
      sharedB[at + column / 4u][column % 4u] = loadedB[own * kWindows + i];
    }
}
