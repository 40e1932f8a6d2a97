#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// SCATTER_ELEMENTS along rows of at most 4096 elements, which lie in vectors of 16 bytes in the output: a workgroup has a
// row in shared memory, puts `updateCount` elements where their indices say, and stores it. The walk at parameters[0] is over
// the rows (operands: input, indices, updates, output in vectors).
//   elements                        of a row
//   xStep, indexStep, updateStep    from one of its elements to the next
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/runs.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_IN(updates)
PACKED_OUT(y)

shared uint row[4096];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uvec4 at = walkOffsets(0u, push.rank, group);
  for (uint k = lane; k < push.elements; k += gl_WorkGroupSize.x) row[k] = loadRaw_x(at.x + k * push.xStep);
  barrier();
  for (uint k = lane; k < push.updateCount; k += gl_WorkGroupSize.x) {
    uint index;
    if (loadIndex(push.indexKind, at.y + k * push.indexStep, push.elements, index))
      row[index] = loadRaw_updates(at.z + k * push.updateStep);
  }
  barrier();
  for (uint k = lane; k < push.elements / kRun; k += gl_WorkGroupSize.x) {
    uvec4 vector = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < kRun; ++i) putElement(vector, i, row[k * kRun + i]);
    y[at.w + k] = vector;
  }
}
