// line: buffer r u32 a
// line: buffer w u32 y
// expect: The kernel case has no storage buffer at binding 1 although one follows; bindings are contiguous.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer aBuffer { uint a[]; };
layout(set = 0, binding = 2, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = a[0]; }
