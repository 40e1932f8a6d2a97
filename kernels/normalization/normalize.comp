#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// scale * (x - mean) / sqrt(variance + epsilon) + bias + addend, then an activation; or x / sqrt(norm^2 + epsilon) with
// its row's p-norm. Walks at
// parameters[0] (operands: input, output, addend, pairs of the rows) and parameters[secondAt] (mean, variance, scale,
// bias).
//   parts   what there is: 1 pairs with mean and variance, in place of tensors; 2 scale; 4 bias; 8 addend; 16 mean; 32
//           variance; of p-norms 64 for p = 2
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"

TENSOR_IN(x)
TENSOR_IN(mean)
TENSOR_IN(variance)
TENSOR_IN(scale)
TENSOR_IN(bias)
TENSOR_IN(addend)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { vec2 pairs[]; };
TENSOR_OUT(y)

bool has(uint part) { return (PARTS & part) != 0u; }

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const float epsilon = uintBitsToFloat(push.epsilon);
  float v = fromRaw(loadRaw_x(at.x));
  if (FUNCTION == DML_OPERATOR_LP_NORMALIZATION) {
    const vec2 sums = pairs[at.w];
    // Scaled, so that no square overflows and no reciprocal is denormal.
    const float factor = !has(64u) && sums.x > 1e15 ? exp2Int(-64) : 1.0;
    const float square = has(64u) ? sums.y : (sums.x * factor) * (sums.x * factor);
    storeRaw_y(at.y, toRaw((v * factor) / sqrt(square + epsilon * factor * factor)));
    return;
  }
  const uvec4 second = walkOffsets(push.secondAt, push.secondRank, item);
  vec2 moments;
  if (has(1u)) {
    moments = pairs[at.w];
  } else {
    moments = vec2(fromRaw(loadRaw_mean(second.x)), fromRaw(loadRaw_variance(second.y)));
  }
  if (has(16u)) v -= moments.x;
  if (has(32u)) v *= inversesqrt(moments.y + epsilon);
  if (has(2u)) v *= fromRaw(loadRaw_scale(second.z));
  if (has(4u)) v += fromRaw(loadRaw_bias(second.w));
  if (has(8u)) v += fromRaw(loadRaw_addend(at.z));
  if (FUSED != 0u) v = activate(FUSED, v, vec2(uintBitsToFloat(push.alpha), uintBitsToFloat(push.beta)));
  storeRaw_y(at.y, toRaw(v));
}
