// main() of kernels that store an element for each position of a walk: elementAt(at) of the walk's offsets there, to
// offset at.OUTPUT of y. Every invocation stores an element; with VECTORS a vector of elements, which the walk steps
// through; with RUNS a run of them. Include last.
#ifdef RUNS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count / kRun, item)) return;
  Run run = runAt(push.rank, item * kRun);
  const uint target = run.at.OUTPUT / kRun;
  uvec4 vector = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    if (i != 0u) advance(run);
    putElement(vector, i, elementAt(run.at));
  }
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
