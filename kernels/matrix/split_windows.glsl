// How split_tile.glsl loads B from the windows of a forward convolution, an element at a time. A window has at most
// kMaxTaps elements: whether they lie inside the input is a bit each, once for each column, and their offsets from the
// window's first element are kept.
//   parameters[2]   {elements of the window and their divisor}
const uint kMaxTaps = 32u;
shared uvec2 sharedWindows[kColumns];  // offset of the first element, elements inside
shared uint sharedTaps[kMaxTaps];

// Neighbouring invocations load eight neighbouring columns.
const uint kNeighbours = 8u;
const uint kWindows = kColumns / kNeighbours;  // columns and steps of an invocation
const uint kStride = kLanes / kNeighbours;
const uint kOwnSteps = kSteps / kStride;
uint windowsAt[kWindows];
uint windowsInside[kWindows];
uint nextStep;
float loadedB[kWindows * kOwnSteps];

uvec2 windowOf(uint base, uint column) {
  const Column at = columnAt(min(column, push.columns - 1u));
  uint offset = base + at.b;
  uint inside = at.hasWindow && column < push.columns ? 1u : 0u;
  uint taps = 1u;
  [[unroll]] for (uint d = 0u; d < 3u; ++d) {
    const uint first = 4u + d * kPerDimension;
    const uint count = parameters[first + 1u].x;
    const uvec4 input1 = parameters[first + 2u];
    // Places before the first wrap to large ones.
    const uint place = at.at[d] - input1.w;
    offset += place * parameters[first + 4u].x;
    uint all = 0u;
    for (uint tap = 0u; tap < count; ++tap)
      if (place + tap * input1.z < input1.x) all |= inside << (tap * taps);
    inside = all;
    taps *= count;
  }
  return uvec2(offset, inside);
}

void prepareB(uint lane, uint own, uint base, uint firstColumn) {
  if (lane < kColumns) sharedWindows[lane] = windowOf(base, firstColumn + lane);
  const uint tap = lane - 64u;
  if (tap < parameters[2].x) sharedTaps[tap] = offsetOfTap(tap);
  barrier();
  [[unroll]] for (uint i = 0u; i < kWindows; ++i) {
    const uvec2 window = sharedWindows[own % kNeighbours + i * kNeighbours];
    windowsAt[i] = window.x;
    windowsInside[i] = window.y;
  }
}

// Elements outside are loaded from others and then made zeros: loads without conditions overlap.
void loadStep(uint i, uint k, bool isStep) {
  const uint channel = divideBy(k, parameters[2]);
  const uint tap = k - channel * parameters[2].x;
  const uint offset = channel * parameters[0].z + sharedTaps[tap];
  [[unroll]] for (uint j = 0u; j < kWindows; ++j) {
    const bool inside = isStep && (windowsInside[j] >> tap & 1u) != 0u;
    const float value = loadB(inside ? windowsAt[j] + offset : 0u, 0u);
    loadedB[i * kWindows + j] = inside ? value : 0.0;
  }
}

void loadEdgeB(uint own, uint first, uint begin, uint end) {
  nextStep = first + own / kNeighbours;
  [[unroll]] for (uint i = 0u; i < kOwnSteps; ++i) {
    const uint k = nextStep + i * kStride;
    loadStep(i, k, k - begin < end - begin);
  }
  nextStep += kRound;
}

void loadNextB(uint own) {
  [[unroll]] for (uint i = 0u; i < kOwnSteps; ++i) loadStep(i, nextStep + i * kStride, true);
  nextStep += kRound;
}

void storeB(uint part, uint own) {
  [[unroll]] for (uint i = 0u; i < kOwnSteps; ++i)
    [[unroll]] for (uint j = 0u; j < kWindows; ++j) {
      const uint column = own % kNeighbours + j * kNeighbours;
      const uint step1 = own / kNeighbours + i * kStride;
      sharedB[part * kPartB + step1 * kPitchB + column / 4u][column % 4u] = loadedB[i * kWindows + j];
    }
}
