#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// A pair of sums for each of `rows` rows of `total` elements. A task is one part of one row: a workgroup's with ROW, an
// invocation's without. With more than one part a row, one dispatch writes the pairs of parts, and a second one
// combines them, which are then its `elements`. Walks at parameters[0] over the rows (operands: input, gradient, mean,
// pairs) and at parameters[reducedAt] over the elements of a row (input, gradient).
//   partLength   elements of all parts but the last
//   divisor      FLOAT32: of the second sum
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"

// FUNCTION: 0: the mean, and squares of differences from it. 1: 0, and squares. 2: magnitudes, and 0. 3: gradients, and
// their products with differences from the mean that is given.
// STAGE: 0: the only dispatch. 1: pairs of parts. 2: rows from pairs.

TENSOR_IN(x)
TENSOR_IN(g)
TENSOR_IN(mean)
layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsBuffer { vec2 pairs[]; };
layout(set = 0, binding = BINDING_result, std430) buffer resultBuffer { vec2 result[]; };

const bool kIsMoments = FUNCTION == 0u;

shared vec2 sharedPair[256];

vec2 sumOfRow(vec2 sum, uint lane) {
  if (ROW == 0u) return sum;
  barrier();
  sharedPair[lane] = sum;
  for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) {
      sum += sharedPair[lane + half1];
      sharedPair[lane] = sum;
    }
  }
  barrier();
  return sharedPair[0];
}

float loadX(uvec4 row, uint k) {
  return fromRaw(loadRaw_x(row.x + walkOffsets(push.reducedAt, push.reducedRank, k).x));
}

// How many elements of the row pair k stands for.
float weightOf(uint k) { return float(min(push.partLength, push.total - k * push.partLength)); }

// What element k adds to the sum of elements.
float plainTerm(uvec4 row, uint rowIndex, uint k) {
  if (STAGE == 2u) return weightOf(k) * pairs[rowIndex * push.elements + k].x;
  return loadX(row, k);
}

// What it adds to the two sums. `center` is the mean, or nearly so.
vec2 pairTerm(uvec4 row, uint rowIndex, uint k, float center) {
  if (STAGE == 2u) {
    const vec2 pair = pairs[rowIndex * push.elements + k];
    if (!kIsMoments) return pair;
    const float difference = pair.x - center;
    return vec2(weightOf(k) * difference, pair.y + weightOf(k) * difference * difference);
  }
  if (FUNCTION == 3u) {
    const uvec4 at = row + walkOffsets(push.reducedAt, push.reducedRank, k);
    const float gradient = fromRaw(loadRaw_g(at.y));
    return vec2(gradient, gradient * (fromRaw(loadRaw_x(at.x)) - center));
  }
  const float v = loadX(row, k) - center;
  if (FUNCTION == 1u) return vec2(0.0, v * v);
  if (FUNCTION == 2u) return vec2(abs(v), 0.0);
  return vec2(v, v * v);
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint task = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && task >= push.rows * push.parts) return;
  // Neighbouring invocations take neighbouring rows, neighbouring workgroups neighbouring parts.
  const uint rowIndex = ROW != 0u ? task / push.parts : task % push.rows;
  const uint part = ROW != 0u ? task % push.parts : task / push.rows;
  const uvec4 row = walkOffsets(0u, push.keptRank, rowIndex);

  uint begin = 0u;
  uint count = push.elements;
  if (STAGE != 2u) {
    begin = part * push.partLength;
    count = min(push.partLength, push.elements - begin);
  }
  const float weight = STAGE == 2u ? float(push.total) : float(count);
  const uint first = ROW != 0u ? lane : 0u;
  const uint step1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;

  float center = 0.0;
  if (FUNCTION == 3u && STAGE != 2u) center = fromRaw(loadRaw_mean(row.z));
  if (kIsMoments) {
    float sum = 0.0;
    for (uint k = first; k < count; k += step1) sum += plainTerm(row, rowIndex, begin + k);
    center = sumOfRow(vec2(sum, 0.0), lane).x / weight;
  }
  vec2 sums = vec2(0.0);
  for (uint k = first; k < count; k += step1) sums += pairTerm(row, rowIndex, begin + k, center);
  sums = sumOfRow(sums, lane);
  if (kIsMoments) {
    // The differences from the mean would sum to 0: what they do sum to corrects it.
    const float correction = sums.x / weight;
    const float square = sums.y - sums.x * correction;
    sums = vec2(isNan(correction) ? center : center + correction, isNan(square) || square >= 0.0 ? square : 0.0);
  }
  if (ROW != 0u && lane != 0u) return;
  if (STAGE == 1u) {
    result[rowIndex * push.parts + part] = sums;
  } else {
    result[row.w] = vec2(sums.x, sums.y / uintBitsToFloat(push.divisor));
  }
}
