// line: buffer r u32 a
// line: buffer r u32 y
// expect: The kernel case has access w to binding 1; the manifest declares r for the buffer y.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer aBuffer { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = a[0]; }
