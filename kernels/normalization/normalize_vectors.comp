#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What normalize.comp does for BATCH_NORMALIZATION, of tensors whose innermost dimension lies in vectors. The walks
// step through vectors, and through elements of what is the same for all of a vector.
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

bool has(uint part) { return (push.parts & part) != 0u; }

float fused(float v) { return activate(FUSED, v, vec2(uintBitsToFloat(push.alpha), uintBitsToFloat(push.beta))); }

// Four of the elements of an operand that belong to a vector.
#define FOUR_OF(NAME, along, at, four) (has(along) ? fourOf(NAME[at], four) : vec4(SINGLE(NAME, at)))

vec4 finishFour(vec4 v, uvec4 at, uvec4 second, uint four) {
  const float epsilon = uintBitsToFloat(push.epsilon);
  vec4 mean4 = vec4(0.0);
  vec4 variance4 = vec4(1.0);
  if (has(1u)) {
    const vec2 pair = pairs[at.w];
    mean4 = vec4(pair.x);
    variance4 = vec4(pair.y);
  } else {
    mean4 = FOUR_OF(mean, 256u, second.x, four);
    variance4 = FOUR_OF(variance, 512u, second.y, four);
  }
  if (has(16u)) v -= mean4;
  if (has(32u)) v /= sqrt(variance4 + epsilon);
  if (has(2u)) v *= FOUR_OF(scale, 1024u, second.z, four);
  if (has(4u)) v += FOUR_OF(bias, 2048u, second.w, four);
  if (has(8u)) v += fourOf(addend[at.z], four);
  return v;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec4 second = walkOffsets(push.secondAt, push.secondRank, item);
  const uvec4 loaded = x[at.x];
  vec4 fours[kFours];
  [[unroll]] for (uint i = 0u; i < kFours; ++i) fours[i] = finishFour(fourOf(loaded, i), at, second, i);
  if (FUSED != 0u) FOR_EACH_ELEMENT(fours, kFours, fused)
  y[at.y] = VECTOR_OF(fours, 0u);
}
