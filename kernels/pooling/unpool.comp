#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Puts each element where its index says, among `outputs` elements in row-major order; other indices are ignored.
// Walks: at parameters[0] over the elements (operands: input, indices), at parameters[outputAt] over the output.
#define PUSH_FIELDS uint count; uint rank; uint outputs; uint outputRank; uint outputAt; uint indexKind;
#include "common/grid.glsl"
#include "common/walk.glsl"
#define INDEX_BINDING 1
#include "common/index.glsl"

TENSOR_IN(x, 0)
TENSOR_OUT(y, 2)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint index;
  if (!loadIndex(push.indexKind, at.y, push.outputs, index)) return;
  storeRaw_y(walkOffsets(push.outputAt, push.outputRank, index).x, loadRaw_x(at.x));
}
