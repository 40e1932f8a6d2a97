#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

// Walk operands: updates, the first coordinate of an index tuple, output within the slice a tuple names. The walk is
// followed at parameters[tupleAt] by {size, output stride} of each dimension that a tuple has a coordinate for.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint target = at.z;
  bool inside = true;
  for (uint k = 0u; k < push.tupleSize; ++k) {
    const uvec4 dimension = parameters[push.tupleAt + k];
    uint index;
    inside = loadIndex(push.indexKind, at.y + k * push.tupleStride, dimension.x, index) && inside;
    target += index * dimension.y;
  }
  if (inside) storeRaw_y(target, loadRaw_x(at.x));
}
