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
#ifdef DIMPLE_HLSL
#define INDEX_IN_TWO_WORDS
#endif
#include "common/index.glsl"

TENSOR_IN(x)
TENSOR_IN(updates)
PACKED_OUT(y)

const uint kAhead = 8u;  // elements that are loaded together, of which the last stands for those behind it

const uint kInWord = 32u / T_BITS;

shared uint row[4096];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uvec4 at = walkOffsets(0u, push.rank, group);
  const uint step1 = gl_WorkGroupSize.x;
  uint held[kAhead];
  // Words of elements that lie side by side, or elements.
  const bool inWords = kInWord > 1u && push.xStep == 1u && at.x % kInWord == 0u;
  const uint parts = inWords ? push.elements / kInWord : push.elements;
  for (uint k = lane; k < parts; k += kAhead * step1) {
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      const uint part = min(k + i * step1, parts - 1u);
      held[i] = inWords ? x[at.x / kInWord + part] : loadRaw_x(at.x + part * push.xStep);
    }
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      const uint part = k + i * step1;
      if (part >= parts) continue;
      if (inWords) {
        [[unroll]] for (uint j = 0u; j < kInWord; ++j) row[part * kInWord + j] = held[i] >> (j * T_BITS) & T_MASK;
      } else {
        row[part] = held[i];
      }
    }
  }
  barrier();
  for (uint k = lane; k < push.updateCount; k += kAhead * step1) {
    uint indexOf[kAhead];
    bool isInside[kAhead];
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) {
      const uint update = min(k + i * step1, push.updateCount - 1u);
      isInside[i] = loadIndex(push.indexKind, at.y + update * push.indexStep, push.elements, indexOf[i]);
      held[i] = loadRaw_updates(at.z + update * push.updateStep);
    }
    [[unroll]] for (uint i = 0u; i < kAhead; ++i)
      if (isInside[i] && k + i * step1 < push.updateCount) row[indexOf[i]] = held[i];
  }
  barrier();
  for (uint k = lane; k < push.elements / kRun; k += gl_WorkGroupSize.x) {
    uvec4 vector = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < kRun; ++i) putElement(vector, i, row[k * kRun + i]);
    y[at.w + k] = vector;
  }
}
