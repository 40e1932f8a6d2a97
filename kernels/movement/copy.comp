#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

// Walk operands: input, output.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)

#define OUTPUT y
#define ALIKE_RUNS
#ifdef RUNS
#define WALK_RANK KNOWN(RANK, push.rank)
#endif
RAW elementAt(uvec4 at) { return loadRaw_x(at.x); }

#include "common/each.glsl"
