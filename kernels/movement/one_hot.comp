#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: indices, coordinate on the axis, output. The element at 0 is the value of all coordinates but the
// index, which gets the element at `onAt`.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(values)
#define OUTPUT z
RAW elementAt(uvec4 at) {
  uint index;
  const bool inside = loadIndex(push.indexKind, at.x, push.axisSize, index);
  const RAW off = loadRaw_values(0u);
  const RAW on = loadRaw_values(push.onAt);
  return inside && index == at.y ? on : off;
}

#include "common/each.glsl"
