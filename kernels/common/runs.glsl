// Runs of elements that lie in a vector of 16 bytes of a dense output, in row-major order of a walk (Walk::inRuns). Its
// two innermost dimensions are a plane of at least as many elements as a run, which so lies in two planes at most.
// Include after types.glsl, grid.glsl and walk.glsl.
const uint kRun = 128u / T_BITS;

struct Run {
  uvec4 at;      // offsets of the current element
  uvec4 next;    // those of the next plane
  uint inner;    // coordinates in the plane
  uint outer;
};

// The run that begins with position `index` of the walk at parameters[0].
Run runAt(uint rank, uint index) {
  const uvec4 innerSize = parameters[1];
  const uvec4 outerSize = parameters[3];
  const uint line = divideBy(index, innerSize);
  const uint plane = divideBy(line, outerSize);
  Run run;
  run.inner = index - line * innerSize.x;
  run.outer = line - plane * outerSize.x;
  run.at = parameters[0];
  run.next = parameters[0];
  uint rest = plane;
  uint restOfNext = plane + 1u;
  for (uint d = 2u; d < rank; ++d) {
    const uvec4 dimension = parameters[1u + 2u * d];
    const uvec4 strides = parameters[2u + 2u * d];
    const bool last = d + 1u == rank;
    const uint quotient = last ? 0u : divideBy(rest, dimension);
    const uint quotientOfNext = last ? 0u : divideBy(restOfNext, dimension);
    run.at += (rest - quotient * dimension.x) * strides;
    run.next += (restOfNext - quotientOfNext * dimension.x) * strides;
    rest = quotient;
    restOfNext = quotientOfNext;
  }
  run.at += run.inner * parameters[2] + run.outer * parameters[4];
  return run;
}

void advance(inout Run run) {
  const uvec4 innerStrides = parameters[2];
  const uint innerSize = parameters[1].x;
  const bool lineEnds = run.inner + 1u == innerSize;
  run.inner = lineEnds ? 0u : run.inner + 1u;
  run.at += lineEnds ? parameters[4] - (innerSize - 1u) * innerStrides : innerStrides;
  run.outer += lineEnds ? 1u : 0u;
  const bool planeEnds = run.outer == parameters[3].x;
  run.outer = planeEnds ? 0u : run.outer;
  run.at = mix(run.at, run.next, bvec4(planeEnds));
}

// Whether element `i` of every run lies at the same offset from the run's first: where lines hold whole runs, or runs
// hold whole lines and planes whole runs.
bool areAlike() {
  const uint line = parameters[1].x;
  return line % kRun == 0u || ((line & (line - 1u)) == 0u && line < kRun && parameters[3].x * line % kRun == 0u);
}
// The offsets of the element that begins such a run: what walkOffsets() gives, but sizes and strides of the two
// innermost dimensions are loaded at once.
uvec4 startOfRun(uint rank, uint index) {
  const uvec4 innerSize = parameters[1];
  const uvec4 outerSize = parameters[3];
  const uint line = divideBy(index, innerSize);
  uint rest = divideBy(line, outerSize);
  uvec4 at = parameters[0] + (index - line * innerSize.x) * parameters[2] + (line - rest * outerSize.x) * parameters[4];
  for (uint d = 2u; d < rank; ++d) {
    const uvec4 dimension = parameters[1u + 2u * d];
    const uint quotient = d + 1u == rank ? 0u : divideBy(rest, dimension);
    at += (rest - quotient * dimension.x) * parameters[2u + 2u * d];
    rest = quotient;
  }
  return at;
}
// From a run's first element to element `i`.
uvec4 offsetsInRun(uint i) {
  const uint line = parameters[1].x;
  if (line >= kRun) return i * parameters[2];
  return (i & (line - 1u)) * parameters[2] + (i >> findLSB(line)) * parameters[4];
}

// RUN_IN: elements of a TENSOR_IN that lie side by side, and begin anywhere in a word.
#if T_BITS == 32
#define RUN_IN(NAME) \
  uvec4 loadRun_##NAME(uint i) { return uvec4(NAME[i], NAME[i + 1u], NAME[i + 2u], NAME[i + 3u]); }
#elif T_BITS < 32
#define RUN_IN(NAME)                                                                             \
  uvec4 loadRun_##NAME(uint i) {                                                                 \
    const uint word = i / LANES;                                                                 \
    const uint shift = LANE_SHIFT(i);                                                            \
    const uvec4 low = uvec4(NAME[word], NAME[word + 1u], NAME[word + 2u], NAME[word + 3u]);      \
    if (shift == 0u) return low;                                                                 \
    return (low >> shift) | (uvec4(low.yzw, NAME[word + 4u]) << (32u - shift));                  \
  }
#endif

// Puts element `i` into a vector of zeros. Unroll loops over `i`.
void putElement(inout uvec4 vector, uint i, RAW bits) {
#if T_BITS == 64
  vector[i * 2u] = bits.x;
  vector[i * 2u + 1u] = bits.y;
#elif T_BITS == 32
  vector[i] = bits;
#else
  vector[i * T_BITS / 32u] |= (bits & T_MASK) << (i * T_BITS % 32u);
#endif
}
