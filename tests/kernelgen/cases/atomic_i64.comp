// line: buffer rw u64 y
// expect: The kernel case uses 64-bit atomics, which does not survive HLSL; write it otherwise or mark it vulkan-only.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { uint64_t y[]; };
void main() { atomicAdd(y[0], uint64_t(1)); }
