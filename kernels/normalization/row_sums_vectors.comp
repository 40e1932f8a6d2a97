#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what row_sums.comp does in stages 0 and 1 with ROW, for rows that lie in vectors of 16 bytes: `elements` counts
// vectors, through which the walks step in the input and the gradient. A part is four vectors an invocation, which are
// read once.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/rows.glsl"

PACKED_IN(x)
PACKED_IN(g)
PACKED_IN(mean)
layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsBuffer { vec2 pairs[]; };  // unused
layout(set = 0, binding = BINDING_result, std430) buffer resultBuffer { vec2 result[]; };

const uint kHeldVectors = 4u;
const uint kHeldFours = kHeldVectors * kFours;
const bool kIsMoments = FUNCTION == 0u;
const bool kIsGradients = FUNCTION == 3u;

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowIndex = group / push.parts;
  const uint part = group % push.parts;
  const uvec4 row = walkOffsets(0u, push.keptRank, rowIndex);
  const uint begin = part * kHeldVectors * gl_WorkGroupSize.x;
  const uint count = min(kHeldVectors * gl_WorkGroupSize.x, push.elements - begin);

  // Vectors behind the end are the last one again, and count nothing.
  uvec4 loaded[kHeldVectors];
  uvec4 gradients[kHeldVectors];
  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) {
    const uint k = begin + min(lane + i * gl_WorkGroupSize.x, count - 1u);
    const uvec4 at = row + walkOffsets(push.reducedAt, push.reducedRank, k);
    loaded[i] = x[at.x];
    if (kIsGradients) gradients[i] = g[at.y];
  }
  const float number = float(count * kVectorElements);
  float center = 0.0;
  if (kIsGradients) center = SINGLE(mean, row.z);
  if (kIsMoments) {
    vec4 sum = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < kHeldFours; ++i)
      if (lane + i / kFours * gl_WorkGroupSize.x < count) sum += fourOf(loaded[i / kFours], i % kFours);
    center = sumOfRow(vec2(sumOf(sum), 0.0), 0u).x / number;
  }
  vec4 first = vec4(0.0);
  vec4 second = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) {
    if (lane + i / kFours * gl_WorkGroupSize.x >= count) continue;
    const vec4 v = fourOf(loaded[i / kFours], i % kFours) - center;
    if (kIsGradients) {
      const vec4 gradient = fourOf(gradients[i / kFours], i % kFours);
      first += gradient;
      second += gradient * v;
    } else if (FUNCTION == 2u) {
      first += abs(v);
    } else {
      first += v;
      second += v * v;
    }
  }
  vec2 sums = sumOfRow(vec2(sumOf(first), sumOf(second)), 1u);
  if (kIsMoments) {
    // As in row_sums.comp.
    const float correction = sums.x / number;
    const float square = sums.y - sums.x * correction;
    sums = vec2(isNan(correction) ? center : center + correction, isNan(square) || square >= 0.0 ? square : 0.0);
  }
  if (FUNCTION == 1u) sums.x = 0.0;
  if (lane != 0u) return;
  if (STAGE == 1u) {
    result[rowIndex * push.parts + part] = sums;
  } else {
    result[row.w] = vec2(sums.x, sums.y / uintBitsToFloat(push.divisor));
  }
}
