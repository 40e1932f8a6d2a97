// line: buffer w u32 y
// expect: The kernel case uses gl_SubgroupID, which does not survive HLSL
#version 460
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[gl_LocalInvocationIndex] = gl_SubgroupID; }
