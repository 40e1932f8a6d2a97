#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Puts each element where its index says, among `outputs` elements in row-major order; other indices are ignored.
// Walks: at parameters[0] over the elements (operands: input, indices), at parameters[outputAt] over the output.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint index;
  if (!loadIndex(push.indexKind, at.y, push.outputs, index)) return;
  storeRaw_y(walkOffsets(push.outputAt, push.outputRank, index).x, loadRaw_x(at.x));
}
