#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// scale * (x - mean) / sqrt(variance + epsilon) + bias, then an activation, with the mean and the variance of rows of
// at most 4096 elements, which a workgroup holds. Walks at parameters[0] over the rows and at parameters[reducedAt]
// over a row's elements (operands: input, output, scale, bias).
//   parts   what there is: 2 scale; 4 bias; 16 mean; 32 variance, which without the mean is that from 0
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"

TENSOR_IN(x)
TENSOR_IN(scale)
TENSOR_IN(bias)
TENSOR_OUT(y)

const uint kHeld = 16u;

shared vec2 sharedPair[256];

bool has(uint part) { return (PARTS & part) != 0u; }

uvec4 offsetsOf(uvec4 row, uint k) {
  // One dimension needs no division.
  if (push.reducedRank <= 1u) return row + parameters[push.reducedAt] + k * parameters[push.reducedAt + 2u];
  return row + walkOffsets(push.reducedAt, push.reducedRank, k);
}

// A tree of four branches, for fewer barriers than of two.
vec2 sumOfRow(vec2 sum, uint lane) {
  barrier();
  sharedPair[lane] = sum;
  for (uint quarter = gl_WorkGroupSize.x / 4u; quarter > 0u; quarter /= 4u) {
    barrier();
    if (lane < quarter) {
      sum = (sum + sharedPair[lane + quarter]) + (sharedPair[lane + 2u * quarter] + sharedPair[lane + 3u * quarter]);
      sharedPair[lane] = sum;
    }
  }
  barrier();
  return sharedPair[0];
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uvec4 row = walkOffsets(0u, push.keptRank, group);
  const uint last = push.elements - 1u;
  const float count = float(push.elements);

  // All elements are loaded before the first one is used. Behind the row's end, its last element is loaded again.
  float held[kHeld];
  [[unroll]] for (uint i = 0u; i < kHeld; ++i)
    held[i] = fromRaw(loadRaw_x(offsetsOf(row, min(lane + i * gl_WorkGroupSize.x, last)).x));

  float mean = 0.0;
  if (has(16u)) {
    float sum = 0.0;
    [[unroll]] for (uint i = 0u; i < kHeld; ++i)
      if (lane + i * gl_WorkGroupSize.x <= last) sum += held[i];
    mean = sumOfRow(vec2(sum, 0.0), lane).x / count;
  }
  vec2 sums = vec2(0.0);
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
    held[i] -= mean;
    if (lane + i * gl_WorkGroupSize.x <= last) sums += vec2(held[i], held[i] * held[i]);
  }
  sums = sumOfRow(sums, lane);
  // The differences from the mean would sum to 0: what they do sum to corrects it.
  const float correction = has(16u) ? sums.x / count : 0.0;
  const float square = (has(16u) ? sums.y - sums.x * correction : sums.y) / count;
  const float variance = isNan(square) || square >= 0.0 ? square : 0.0;
  // The root is no denormal, and neither is its reciprocal.
  const float factor = has(32u) ? 1.0 / sqrt(variance + uintBitsToFloat(push.epsilon)) : 1.0;

#if DIMPLE_HLSL
  // What follows takes four elements at a time, so that DXIL has four copies of what finds their places.
  const uint kTogether = 4u;
#define FIRST (lane + first * gl_WorkGroupSize.x)
  [[dont_unroll]] for (uint first = 0u; first < kHeld; first += kTogether) {
    float values[kTogether];
    [[unroll]] for (uint i = 0u; i < kTogether; ++i) {
      values[i] = held[i];
      [[unroll]] for (uint other = kTogether; other < kHeld; other += kTogether)
        if (first == other) values[i] = held[other + i];
    }
#else
  // All elements are taken at once.
#define kTogether kHeld
#define FIRST lane
#define values held
#endif
  [[unroll]] for (uint i = 0u; i < kTogether; ++i) {
    const uint k = FIRST + i * gl_WorkGroupSize.x;
    if (k > last) continue;
    const uvec4 at = offsetsOf(row, k);
    float v = (values[i] - correction) * factor;
    if (has(2u)) v *= fromRaw(loadRaw_scale(at.z));
    if (has(4u)) v += fromRaw(loadRaw_bias(at.w));
    values[i] = v;
  }
  ACTIVATE_EACH(values, kTogether, vec2(uintBitsToFloat(push.alpha), uintBitsToFloat(push.beta)))
  [[unroll]] for (uint i = 0u; i < kTogether; ++i) {
    const uint k = FIRST + i * gl_WorkGroupSize.x;
    if (k <= last) storeRaw_y(offsetsOf(row, k).y, toRaw(values[i]));
  }
#if DIMPLE_HLSL
  }
#endif
}
