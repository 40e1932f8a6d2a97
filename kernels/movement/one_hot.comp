#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: indices, coordinate on the axis, output. The element at 0 is the value of all coordinates but the
// index, which gets the element at `onAt`.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(values)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint index;
  const bool inside = loadIndex(push.indexKind, at.x, push.axisSize, index);
  storeRaw_y(at.z, loadRaw_values(inside && index == at.y ? push.onAt : 0u));
}
