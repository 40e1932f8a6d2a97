#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

// Walk operands: input without its axis, indices, output. Indices are those of the whole axis; the input bound has
// `window` of them from `first` on, and elements of others are left to other dispatches.
// With RUNS it is the whole axis.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
#ifdef RUNS
#define OUTPUT z
#define WALK_RANK KNOWN(RANK, push.rank)
uint placeAt(uvec4 at) {
  uint index;
  loadIndex(push.indexKind, at.y, push.axisSize, index);
  return at.x + index * push.axisStride;
}
#define PLACES

#include "common/each.glsl"
#else
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint index;
  loadIndex(push.indexKind, at.y, push.axisSize, index);
  index -= push.first;
  if (index >= push.window) return;
  storeRaw_y(at.z, loadRaw_x(at.x + index * push.axisStride));
}
#endif
