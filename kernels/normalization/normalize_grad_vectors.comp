#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what normalize_grad.comp does, for tensors whose innermost dimension lies in vectors of 16 bytes, along which
// the pairs and the second walk's operands stand still.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/fours.glsl"

PACKED_IN(x)
PACKED_IN(g)
PACKED_IN(mean)
PACKED_IN(variance)
PACKED_IN(scale)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { vec2 pairs[]; };
PACKED_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 second = walkOffsets(push.secondAt, push.secondRank, item);
  const uvec4 gradients = g[at.y];
  const float spread = SINGLE(variance, second.y) + uintBitsToFloat(push.epsilon);
  const float factor = SINGLE(scale, second.z);
  const float root = sqrt(spread);
  vec4 fours[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) fours[i] = fourOf(gradients, i);
  if (FUNCTION == DML_OPERATOR_BATCH_NORMALIZATION_TRAINING_GRAD) {
    const vec2 means = pairs[at.w] / float(push.terms);
    const float center = SINGLE(mean, second.x);
    const uvec4 loaded = x[at.x];
    [[unroll]] for (uint i = 0u; i < kFours; ++i)
      fours[i] = (fours[i] - means.x) - (fourOf(loaded, i) - center) * means.y / spread;
  }
  [[unroll]] for (uint i = 0u; i < kFours; ++i) fours[i] = factor * (fours[i] / root);
  y[at.z] = VECTOR_OF(fours, 0u);
}
