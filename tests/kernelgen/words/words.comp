#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_16bit_storage : require
#include "interface.glsl"

layout(local_size_x = 1) in;
#ifdef NATIVE
#define ELEMENT uint16_t
#else
#define ELEMENT uint
#endif
#if VECTOR
layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uvec4 x[]; };
#else
layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { ELEMENT x[]; };
#endif
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { ELEMENT y[]; };
layout(set = 0, binding = BINDING_sums, std430) buffer sumsBuffer { float sums[]; };

void main() {
  y[MODE] = ELEMENT(uint(push.wide) + uint(push.offset) + push.count + uint(push.delta + SHIFT));
#if VECTOR
  sums[push.low] += float(push.scale) + push.factor * HALF_STEP + float(x[push.high].x);
#else
  sums[push.low] += float(push.scale) + push.factor * HALF_STEP + float(x[push.high]);
#endif
  sums[uint(push.first)] = sums[uint(push.last)];
}
