// line: buffer w u32 y
// line: push u16 low high
// expect: The kernel case has the push word high at byte 18; in HLSL each begins at a multiple of 4, unless it is vulkan-only.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = uint(push.low) + uint(push.high); }
