#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: indices, coordinate on the axis, output. The element at 0 is the value of all coordinates but the
// index, which gets the element at `onAt`. With ROWS the axis lies in vectors of 16 bytes, and the walk is through these.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(values)
#ifdef ROWS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  uint index;
  const bool inside = loadIndex(push.indexKind, at.x, push.axisSize, index);
  const uint place = inside ? index - at.y * kRun : kRun;
  const RAW off = loadRaw_values(0u);
  const RAW on = loadRaw_values(push.onAt);
  uvec4 vector = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kRun; ++i) putElement(vector, i, i == place ? on : off);
  y[at.z] = vector;
}
#else
#define OUTPUT z
RAW elementAt(uvec4 at) {
  uint index;
  const bool inside = loadIndex(push.indexKind, at.x, push.axisSize, index);
  const RAW off = loadRaw_values(0u);
  const RAW on = loadRaw_values(push.onAt);
  return inside && index == at.y ? on : off;
}

#include "common/each.glsl"
#endif
