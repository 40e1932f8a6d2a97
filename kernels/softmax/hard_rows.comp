#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// HARDMAX of rows that lie in vectors of 16 bytes, a workgroup each. The walk over the rows is at parameters[0]
// (operands: input, output).
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/fours.glsl"

PACKED_IN(x)
PACKED_OUT(y)

const uint kLoads = 16u / kVectorElements;  // under way at once
const uint kNone = 0xffffffffu;

shared int sharedKey[256];
shared uint sharedIndex[256];

// As in softmax.comp.
int compareKey(float v) { return isNan(v) ? 0x7fffffff : numericKey(v); }

// The first index of the greatest key of the workgroup.
uint firstOfGreatest(int key, uint index) {
  const uint lane = gl_LocalInvocationID.x;
  sharedKey[lane] = key;
  sharedIndex[lane] = index;
  for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) {
      const int other = sharedKey[lane + half1];
      const uint otherIndex = sharedIndex[lane + half1];
      const bool isOther = other > key || (other == key && otherIndex < index);
      key = isOther ? other : key;
      index = isOther ? otherIndex : index;
      sharedKey[lane] = key;
      sharedIndex[lane] = index;
    }
  }
  barrier();
  return sharedIndex[0];
}

void main() {
  const uint row = groupIndex();
  if (row >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint vectors = push.elements / kVectorElements;
  const uvec2 first = walkOffsets(0u, push.keptRank, row).xy / kVectorElements;
  // Below every key.
  int best = -0x7fffffff - 1;
  uint index = kNone;
  for (uint k = lane; k < vectors; k += kLoads * gl_WorkGroupSize.x) {
    uvec4 loaded[kLoads];
    [[unroll]] for (uint i = 0u; i < kLoads; ++i)
      loaded[i] = x[first.x + min(k + i * gl_WorkGroupSize.x, vectors - 1u)];
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) {
      // The last vector again loses to itself.
      [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
        const int key = compareKey(fourOf(loaded[i], e / 4u)[e % 4u]);
        const bool isGreater = key > best;
        best = isGreater ? key : best;
        index = isGreater ? min(k + i * gl_WorkGroupSize.x, vectors - 1u) * kVectorElements + e : index;
      }
    }
  }
  const uint top = firstOfGreatest(best, index);
#if T == f16
  const uint one = 0x3c00u << (top % 2u * 16u);
  const uint word = top / 2u;
#else
  const uint one = 0x3f800000u;
  const uint word = top;
#endif
  for (uint k = lane; k < vectors; k += gl_WorkGroupSize.x) {
    const uvec4 words = uvec4(k * 4u) + uvec4(0u, 1u, 2u, 3u);
    y[first.y + k] = uvec4(equal(words, uvec4(word))) * one;
  }
}
