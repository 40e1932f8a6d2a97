// line: buffer w u32 y
// line: spec 0 structural u32 MODE 0 1
// expect: The kernel case has no specialization constant 0; the manifest declares MODE.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
