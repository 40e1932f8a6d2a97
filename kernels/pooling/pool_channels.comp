#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What pool.comp does, of tensors whose channels lie in vectors of 16 bytes: one vector of the output an invocation.
// Parameters as there, with vectors of channels before the spatial dimensions, and strides in vectors.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "pooling/vectors.glsl"
#include "pooling/window.glsl"

PACKED_IN(x)
PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint rest = item;
  uvec2 at = uvec2(0u);
  uvec3 box = uvec3(0u);
  uvec3 steps = uvec3(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint next = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - next * size.x;
    rest = next;
    at += coordinate * parameters[2u * d + 1u].xy;
    if (d < 1u || d > 3u) continue;
    const uint s = d - 1u;
    const uvec4 dilation = parameters[10u + 2u * s];
    const uvec4 source = parameters[11u + 2u * s];
    uint first;
    uint covered;
    windowCoverage(coordinate, dilation, source.x, first, covered);
    box[s] = covered;
    at.x += first * source.y;
    steps[s] = dilation.y * source.y;
  }
  const uint total = box.x * box.y * box.z;
  int sums[kVectorElements];
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) sums[i] = emptyResult();
  uvec3 place = uvec3(0u);
  const uvec3 advance = uvec3(1u, 0u, 0u);  // carried by boxAdvance()
  for (uint left = total; left != 0u; --left) {
    const uvec3 offsets = place * steps;
    const uvec4 vector = x[at.x + offsets.x + offsets.y + offsets.z];
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) sums[i] = combine(sums[i], elementOf(vector, i));
    place = boxAdvance(place, advance, box);
  }
  uvec4 result = uvec4(0u);
  if (HAS_KEYS) {
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) result[i / PACKED_LANES] |=
        LANE_BITS(bitsOfKey(sums[i]), i % PACKED_LANES);
  }
#if T_IS_FLOAT
  else {
    vec4 fours[kFours];
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) fours[i / 4u][i % 4u] = finishFloat(sums[i], total);
    result = VECTOR_OF(fours, 0u);
  }
#endif
  y[at.y] = result;
}
