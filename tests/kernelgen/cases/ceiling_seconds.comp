// line: buffer w u32 y
// option: --max-seconds 0
// expect: s on two cores, above the ceiling of 0 s; the slowest is case.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
