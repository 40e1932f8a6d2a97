// main() of kernels that store an element for each position of a walk: elementAt(at) of the walk's offsets there, to
// offset at.OUTPUT of y. Every invocation stores an element; with VECTORS a vector of elements, which the walk steps
// through; with RUNS a run of them, for which ALIKE_RUNS has code of its own where all are alike, and in which PLACES
// finds all elements, x[placeAt(at)], before it loads the first. Include last.
#ifdef RUNS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)
#ifndef WALK_RANK
#define WALK_RANK push.rank
#endif

void main() {
  uint item;
  if (!gridItem(push.count / kRun, item)) return;
  uvec4 vector = uvec4(0u);
#ifdef ALIKE_RUNS
  if (areAlike()) {
    const uvec4 at = startOfRun(WALK_RANK, item * kRun);
    [[unroll]] for (uint i = 0u; i < kRun; ++i) putElement(vector, i, elementAt(at + offsetsInRun(i)));
    y[at.OUTPUT / kRun] = vector;
    return;
  }
#endif
  Run run = runAt(WALK_RANK, item * kRun);
  const uint target = run.at.OUTPUT / kRun;
#ifdef PLACES
  uint places[kRun];
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    if (i != 0u) advance(run);
    places[i] = placeAt(run.at);
  }
  [[unroll]] for (uint i = 0u; i < kRun; ++i) putElement(vector, i, loadRaw_x(places[i]));
#else
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    if (i != 0u) advance(run);
    putElement(vector, i, elementAt(run.at));
  }
#endif
  y[target] = vector;
}
#else
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.OUTPUT, elementAt(at));
}
#endif
