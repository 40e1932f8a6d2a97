// line: buffer rw u32 y
// line: spec 0 structural u32 SIZE 64
// expect: The kernel case has a specialization constant for its workgroup size, which DXIL cannot say; make it a variant.
#version 460
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };
void main() { y[gl_GlobalInvocationID.x] = gl_WorkGroupSize.x; }
