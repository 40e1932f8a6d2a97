// line: buffer rw u32 y
// line: spec 16 structural u32 INVOCATIONS=256 64 256
// line: vulkan-only
// kernels.txt: case * 0 16 0 rw 256x1x1 0 vulkan-only
#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 256, local_size_x_id = INVOCATIONS_ID) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };
void main() { y[gl_LocalInvocationID.x] = INVOCATIONS; }
