#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what normalize.comp does for BATCH_NORMALIZATION, for tensors whose innermost dimension lies in vectors. The
// walks step through vectors, and through elements of what is the same for all of a vector.
//   parts   as there, and what lies in vectors like the input: 256 mean; 512 variance; 1024 scale; 2048 bias
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "common/fours.glsl"

PACKED_IN(x)
PACKED_IN(mean)
PACKED_IN(variance)
PACKED_IN(scale)
PACKED_IN(bias)
PACKED_IN(addend)
layout(set = 0, binding = BINDING_pairs, std430) readonly buffer pairsBuffer { vec2 pairs[]; };
PACKED_OUT(y)

bool has(uint part) { return (PARTS & part) != 0u; }

float fused(float v) { return activate(FUSED, v, vec2(uintBitsToFloat(push.alpha), uintBitsToFloat(push.beta))); }

// Operands, each that of an element or the same for all of a vector.
struct Operands {
  float mean;
  float variance;
  float factor;  // of the variance
  float scale;
  float bias;
};

// The root is no denormal, and neither is its reciprocal.
vec4 factorOf(vec4 variance4) { return inversesqrt(variance4 + uintBitsToFloat(push.epsilon)); }

Operands operandsOf(uvec4 at, uvec4 second) {
  Operands o = Operands(0.0, 1.0, 1.0, 1.0, 0.0);
  if (has(1u)) {
    o.mean = pairs[at.w].x;
    o.variance = pairs[at.w].y;
  } else {
    if (!has(256u)) o.mean = SINGLE(mean, second.x);
    if (!has(512u)) o.variance = SINGLE(variance, second.y);
  }
  o.factor = factorOf(vec4(o.variance)).x;
  if (has(2u) && !has(1024u)) o.scale = SINGLE(scale, second.z);
  if (has(4u) && !has(2048u)) o.bias = SINGLE(bias, second.w);
  return o;
}

// Four of the elements of an operand that belong to a vector.
#define FOUR_OF(NAME, along, at, four, same) (has(along) ? fourOf(NAME[at], four) : vec4(same))

vec4 finishFour(vec4 v, Operands o, uvec4 at, uvec4 second, uint four) {
  if (has(16u)) v -= FOUR_OF(mean, 256u, second.x, four, o.mean);
  if (has(32u)) v *= has(512u) ? factorOf(fourOf(variance[second.y], four)) : vec4(o.factor);
  if (has(2u)) v *= FOUR_OF(scale, 1024u, second.z, four, o.scale);
  if (has(4u)) v += FOUR_OF(bias, 2048u, second.w, four, o.bias);
  if (has(8u)) v += fourOf(addend[at.z], four);
  return v;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 second = walkOffsets(push.secondAt, push.secondRank, item);
  const uvec4 loaded = x[at.x];
  const Operands operands = operandsOf(at, second);
  vec4 fours[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) fours[i] = finishFour(fourOf(loaded, i), operands, at, second, i);
  if (FUSED != 0u) FOR_EACH_ELEMENT(fours, kFours, fused)
  y[at.y] = VECTOR_OF(fours, 0u);
}
