#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// The gradient of the input of batch normalization. Walks at parameters[0] (operands: input, gradient, output, pairs of
// the rows) and parameters[secondAt] (mean, variance, scale). A pair sums gradients, and their products with
// differences from the mean, over `terms` elements.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_IN(g)
TENSOR_IN(mean)
TENSOR_IN(variance)
TENSOR_IN(scale)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { vec2 pairs[]; };
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 second = walkOffsets(push.secondAt, push.secondRank, item);
  float gradient = fromRaw(loadRaw_g(at.y));
  const float spread = fromRaw(loadRaw_variance(second.y)) + uintBitsToFloat(push.epsilon);
  if (FUNCTION == DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD) {
    // What the element adds to its row's mean and variance counts, too.
    const vec2 means = pairs[at.w] / float(push.terms);
    const float centered = fromRaw(loadRaw_x(at.x)) - fromRaw(loadRaw_mean(second.x));
    gradient = (gradient - means.x) - centered * means.y / spread;
  }
  storeRaw_y(at.z, toRaw(fromRaw(loadRaw_scale(second.z)) * (gradient / sqrt(spread))));
}
