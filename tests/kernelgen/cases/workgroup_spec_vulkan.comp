// line: buffer rw u32 y
// line: spec 0 structural u32 SIZE 64
// line: vulkan-only
// kernels.txt: case * 0 0 0 rw 1x1x1 0 vulkan-only
#version 460
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = gl_WorkGroupSize.x; }
