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
  run.at = planeEnds ? run.next : run.at;
}

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
