#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What an operator tells of its rows' pairs of sums: mean and variance, or the gradients of scale and bias. The walk's
// operands: first output, second output, variance, pairs.
#include "common/grid.glsl"
#include "common/walk.glsl"

layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { vec2 pairs[]; };
TENSOR_IN(variance)
TENSOR_OUT(a)
TENSOR_OUT(b)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  vec2 pair = pairs[at.w];
  if (FUNCTION != DML_OPERATOR_BATCH_NORMALIZATION_TRAINING)
    pair = vec2(pair.y / sqrt(fromRaw(loadRaw_variance(at.z)) + uintBitsToFloat(push.epsilon)), pair.x);
  storeRaw_a(at.x, toRaw(pair.x));
  storeRaw_b(at.y, toRaw(pair.y));
}
