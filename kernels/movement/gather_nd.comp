#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"

// Walk operands: input within the slice that a tuple names, the first coordinate of an index tuple, output. The walk is
// followed at parameters[tupleAt] by {size, input stride} of each dimension that a tuple has a coordinate for.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/index.glsl"

TENSOR_IN(x)
#define OUTPUT z
RAW elementAt(uvec4 at) {
  uint source = at.x;
  for (uint k = 0u; k < push.tupleSize; ++k) {
    const uvec4 dimension = parameters[push.tupleAt + k];
    uint index;
    loadIndex(push.indexKind, at.y + k * push.tupleStride, dimension.x, index);
    source += index * dimension.y;
  }
  return loadRaw_x(source);
}

#include "common/each.glsl"
