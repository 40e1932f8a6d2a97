#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: input within the slice that a tuple names, the first coordinate of an index tuple, output. The walk is
// followed at parameters[tupleAt] by {size, input stride} of each dimension that a tuple has a coordinate for.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint source = at.x;
  for (uint k = 0u; k < push.tupleSize; ++k) {
    const uvec4 dimension = parameters[push.tupleAt + k];
    uint index;
    loadIndex(push.indexKind, at.y + k * push.tupleStride, dimension.x, index);
    source += index * dimension.y;
  }
  storeRaw_y(at.z, loadRaw_x(source));
}
