#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Whether conversions to FLOAT16 round to nearest, ties to even, denormals and what overflows included: each invocation
// writes 1 to a word, or 0. Tried are all halves of finite value, what lies between them and the next, and the floats
// beside that.
#include "common/grid.glsl"

layout(set = 0, binding = BINDING_known, std430) writeonly buffer knownBuffer { uint known[]; };

const uint kInfinity = 0x7c00u;

// Of the half after the largest one, what it would be.
float valueOf(uint half16) { return half16 == kInfinity ? 65536.0 : floatFromHalf(half16); }

bool isRounded(uint half16) {
  const float value = valueOf(half16);
  const float middle = 0.5 * (value + valueOf(half16 + 1u));
  const uint bits = floatBitsToUint(middle);
  const float below = uintBitsToFloat(bits - 1u);
  const float above = uintBitsToFloat(bits + 1u);
  const uint even = half16 + (half16 & 1u);
  return halvesFromPair(vec2(value, middle)) == (half16 | even << 16) &&
         halvesFromPair(vec2(above, -below)) == (half16 + 1u | (half16 | 0x8000u) << 16) &&
         halfFromFloat(-middle) == (even | 0x8000u) && halfFromFloat(below) == half16 &&
         halfFromFloat(-above) == (half16 + 1u | 0x8000u);
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  bool areRounded = true;
  for (uint i = gl_LocalInvocationID.x; i < kInfinity; i += gl_WorkGroupSize.x) areRounded = areRounded && isRounded(i);
  known[gl_LocalInvocationID.x] = areRounded ? 1u : 0u;
}
