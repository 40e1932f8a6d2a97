#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

#include "common/grid.glsl"
#include "common/walk.glsl"

#define OUTPUT x
RAW elementAt(uvec4 at) {
#ifdef VECTORS
  return uvec4(push.low, push.high, push.low, push.high);
#elif T_BITS == 64
  return uvec2(push.low, push.high);
#else
  return push.low;
#endif
}

#include "common/each.glsl"
