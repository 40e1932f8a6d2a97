// line: buffer w u32 y
// line: vulkan-only
// expect: The kernel case needs SPIR-V capabilities without a KernelFeature: 5347.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430) buffer Words { uint words[]; };
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint low, high; } push;
void main() { y[0] = Words(uvec2(push.low, push.high)).words[0]; }
