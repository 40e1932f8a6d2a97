// line: buffer w u32 y
// line: push u8 first
// expect: The kernel case has a push word of 8 bits, first, which HLSL does not have; it has to be vulkan-only.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = uint(push.first); }
