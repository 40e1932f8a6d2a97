#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Walk operands: input without its axis, lengths, output, coordinate on the axis.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
#define OUTPUT z
RAW elementAt(uvec4 at) {
  uint length;
  loadIndex(push.indexKind, at.y, push.axisSize + 1u, length);
  const uint source = at.w < length ? length - 1u - at.w : at.w;
  return loadRaw_x(at.x + source * push.axisStride);
}

#include "common/each.glsl"
