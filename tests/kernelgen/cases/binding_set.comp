// line: buffer w u32 y
// expect: The kernel case has the storage buffer yBuffer in set 1, not in set 0.
#version 460
layout(local_size_x = 1) in;
layout(set = 1, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
