#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// LOCAL_RESPONSE_NORMALIZATION_GRAD along lines, as local_response_vectors.comp takes them (operands of the walk: input,
// gradient, output). What each element of the regions gets as its part of the sum is computed for the tile's lines and
// for those that reach into it, and shared.
//   inputStep, gradientStep, outputStep   from line to line, in vectors
//   factor                                as in local_response.comp
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "normalization/local_response.glsl"

PACKED_IN(x)
PACKED_IN(g)
PACKED_OUT(y)

const uint kParts = 4096u / kVectorElements;  // vectors

shared float sharedPart[4096];

// Of a vector's elements: what they get of their own gradients, and as parts of sums.
struct Parts {
  vec4 direct[kFours];
  vec4 part[kFours];
};

Parts partsOf(uvec4 plane, uint line, uint vector) {
  vec4 sums[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) sums[i] = vec4(0.0);
  const uint last = line + min(push.along - 1u - line, push.after);
  for (uint k = line - min(line, push.before); k <= last; ++k) {
    const uvec4 loaded = x[plane.x + k * push.inputStep + vector];
    [[unroll]] for (uint i = 0u; i < kFours; ++i) sums[i] += fourOf(loaded, i) * fourOf(loaded, i);
  }
  vec4 quotients[kFours];
  toPowers(sums, quotients);
  const uvec4 own = x[plane.x + line * push.inputStep + vector];
  const uvec4 gradients = g[plane.y + line * push.gradientStep + vector];
  Parts parts;
  [[unroll]] for (uint i = 0u; i < kFours; ++i) {
    parts.direct[i] = fourOf(gradients, i) * sums[i];
    parts.part[i] = fourOf(gradients, i) * fourOf(own, i) * quotients[i];
  }
  return parts;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint width = 1u << push.acrossBits;
  const uint tileAlong = gl_WorkGroupSize.x >> push.acrossBits;
  const uint tilesAcross = (push.across + width - 1u) >> push.acrossBits;
  const uint tilesAlong = (push.along + tileAlong - 1u) / tileAlong;
  const uint tile = group % (tilesAcross * tilesAlong);
  const uint vector = ((tile % tilesAcross) << push.acrossBits) + (lane & (width - 1u));
  const uint firstLine = tile / tilesAcross * tileAlong;
  const uint ownLine = lane >> push.acrossBits;  // in the tile
  const uvec4 plane = walkOffsets(0u, push.rank, group / (tilesAcross * tilesAlong));

  const uint line = firstLine + ownLine;
  const bool exists = vector < push.across && line < push.along;
  Parts own;
  // Lines that the tile has of its own lie behind those that reach into it from ahead.
  if (exists) own = partsOf(plane, line, vector);
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e)
    sharedPart[e * kParts + lane + (push.after << push.acrossBits)] = exists ? own.part[e / 4u][e % 4u] : 0.0;
  for (uint t = lane; t < (push.before + push.after) << push.acrossBits; t += gl_WorkGroupSize.x) {
    const uint reaching = t >> push.acrossBits;
    const uint place = reaching < push.after ? reaching : reaching + tileAlong;
    // Modulo 2^32 before the first line.
    const uint at = firstLine + place - push.after;
    const bool reaches = vector < push.across && at < push.along;
    Parts parts;
    if (reaches) parts = partsOf(plane, at, vector);
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e)
      sharedPart[e * kParts + ((place << push.acrossBits) | (lane & (width - 1u)))] =
          reaches ? parts.part[e / 4u][e % 4u] : 0.0;
  }
  barrier();
  if (!exists) return;
  vec4 sums[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) sums[i] = vec4(0.0);
  for (uint k = 0u; k <= push.before + push.after; ++k)
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e)
      sums[e / 4u][e % 4u] += sharedPart[e * kParts + lane + (k << push.acrossBits)];
  const uvec4 loaded = x[plane.x + line * push.inputStep + vector];
  [[unroll]] for (uint i = 0u; i < kFours; ++i)
    sums[i] = own.direct[i] - uintBitsToFloat(push.factor) * fourOf(loaded, i) * sums[i];
  y[plane.z + line * push.outputStep + vector] = VECTOR_OF(sums, 0u);
}
