#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// ADAM_OPTIMIZER. Walks: at parameters[0] the inputs, at parameters[outputsAt] the outputs. log1 and log2 are the
// logarithms of the betas' magnitudes, rest1 and rest2 what is missing to 1. With VECTORS the walks step through vectors
// of 16 bytes.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"

#ifdef VECTORS
#include "common/packed.glsl"
#include "common/fours.glsl"
PACKED_IN(x)
PACKED_IN(first)
PACKED_IN(second)
PACKED_IN(gradient)
PACKED_OUT(newX)
PACKED_OUT(newFirst)
PACKED_OUT(newSecond)
#define NUMBERS vec4
#else
TENSOR_IN(x)
TENSOR_IN(first)
TENSOR_IN(second)
TENSOR_IN(gradient)
TENSOR_OUT(newX)
TENSOR_OUT(newFirst)
TENSOR_OUT(newSecond)
#define NUMBERS float
#endif
layout(set = 0, binding = BINDING_step, std430) readonly buffer stepBuffer { uint trainingStep[]; };

// 1 - beta^step, with the digits that the power would take from it.
float missing(float beta, float logBeta, uint t) {
  if (t == 0u) return 0.0;
  if (beta == 0.0) return 1.0;
  const float m = -expMinus1(float(t) * logBeta);
  return beta < 0.0 && (t & 1u) != 0u ? 2.0 - m : m;
}

// Of one element or of some.
void update(inout NUMBERS x1, inout NUMBERS m, inout NUMBERS v, NUMBERS g, float rate) {
  m = uintBitsToFloat(push.beta1) * m + uintBitsToFloat(push.rest1) * g;
  v = uintBitsToFloat(push.beta2) * v + uintBitsToFloat(push.rest2) * g * g;
  x1 -= rate * m / (sqrt(v) + uintBitsToFloat(push.epsilon));
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 to = walkOffsets(push.outputsAt, push.outputRank, item);
  const uint t = trainingStep[0];
  const float alpha = sqrt(missing(uintBitsToFloat(push.beta2), uintBitsToFloat(push.log2), t)) /
                      missing(uintBitsToFloat(push.beta1), uintBitsToFloat(push.log1), t);
  const float rate = uintBitsToFloat(push.rate) * alpha;
#ifdef VECTORS
  const uvec4 loadedX = x[at.x];
  const uvec4 loadedFirst = first[at.y];
  const uvec4 loadedSecond = second[at.z];
  const uvec4 loadedGradient = gradient[at.w];
  vec4 xs[kFours];
  vec4 ms[kFours];
  vec4 vs[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) {
    xs[i] = fourOf(loadedX, i);
    ms[i] = fourOf(loadedFirst, i);
    vs[i] = fourOf(loadedSecond, i);
    update(xs[i], ms[i], vs[i], fourOf(loadedGradient, i), rate);
  }
  newX[to.x] = VECTOR_OF(xs, 0u);
  newFirst[to.y] = VECTOR_OF(ms, 0u);
  newSecond[to.z] = VECTOR_OF(vs, 0u);
#else
  float x1 = fromRaw(loadRaw_x(at.x));
  float m = fromRaw(loadRaw_first(at.y));
  float v = fromRaw(loadRaw_second(at.z));
  update(x1, m, v, fromRaw(loadRaw_gradient(at.w)), rate);
  storeRaw_newX(to.x, toRaw(x1));
  storeRaw_newFirst(to.y, toRaw(m));
  storeRaw_newSecond(to.z, toRaw(v));
#endif
}
