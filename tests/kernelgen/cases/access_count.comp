// line: buffer r u32 a
// line: buffer w u32 y
// line: buffer w u32 z
// expect: The kernel case has 2 bindings; the manifest declares 3 buffers.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer aBuffer { uint a[]; };
layout(set = 0, binding = 1, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = a[0]; }
