#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: input without its axis, lengths, output, coordinate on the axis.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint length;
  loadIndex(push.indexKind, at.y, push.axisSize + 1u, length);
  const uint source = at.w < length ? length - 1u - at.w : at.w;
  storeRaw_y(at.z, loadRaw_x(at.x + source * push.axisStride));
}
