#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// start + position * delta; integers wrap. Walk operands: output, position.
#include "common/grid.glsl"
#include "common/walk.glsl"

#define OUTPUT x
#define ALIKE_RUNS
RAW elementAt(uvec4 at) {
#if T_BITS == 64
  const COMPUTE start = fromRaw(uvec2(push.startLow, push.startHigh));
  const COMPUTE delta = fromRaw(uvec2(push.deltaLow, push.deltaHigh));
#else
  const COMPUTE start = fromRaw(push.startLow);
  const COMPUTE delta = fromRaw(push.deltaLow);
#endif
  return toRaw(start + COMPUTE(at.y) * delta);
}

#include "common/each.glsl"
