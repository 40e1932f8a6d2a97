// access: r w w
// expect: The kernel case has 2 bindings; the manifest declares the access of 3.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Y { uint y[]; };
void main() { y[0] = a[0]; }
