#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// ADAM_OPTIMIZER. Walks: at parameters[0] the inputs, at parameters[outputsAt] the outputs. log1 and log2 are the
// logarithms of the betas' magnitudes, rest1 and rest2 what is missing to 1.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"

TENSOR_IN(x)
TENSOR_IN(first)
TENSOR_IN(second)
TENSOR_IN(gradient)
layout(set = 0, binding = BINDING_step, std430) readonly buffer stepBuffer { uint trainingStep[]; };
TENSOR_OUT(newX)
TENSOR_OUT(newFirst)
TENSOR_OUT(newSecond)

// 1 - beta^step, with the digits that the power would take from it.
float missing(float beta, float logBeta, uint t) {
  if (t == 0u) return 0.0;
  if (beta == 0.0) return 1.0;
  const float m = -expMinus1(float(t) * logBeta);
  return beta < 0.0 && (t & 1u) != 0u ? 2.0 - m : m;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 to = walkOffsets(push.outputsAt, push.outputRank, item);
  const uint t = trainingStep[0];
  const float beta1 = uintBitsToFloat(push.beta1);
  const float beta2 = uintBitsToFloat(push.beta2);
  const float g = fromRaw(loadRaw_gradient(at.w));
  const float m = beta1 * fromRaw(loadRaw_first(at.y)) + uintBitsToFloat(push.rest1) * g;
  const float v = beta2 * fromRaw(loadRaw_second(at.z)) + uintBitsToFloat(push.rest2) * g * g;
  const float alpha = sqrt(missing(beta2, uintBitsToFloat(push.log2), t)) / missing(beta1, uintBitsToFloat(push.log1), t);
  const float change = uintBitsToFloat(push.rate) * alpha * m / (sqrt(v) + uintBitsToFloat(push.epsilon));
  const float updated = fromRaw(loadRaw_x(at.x)) - change;
  storeRaw_newX(to.x, toRaw(updated));
  storeRaw_newFirst(to.y, toRaw(m));
  storeRaw_newSecond(to.z, toRaw(v));
}
