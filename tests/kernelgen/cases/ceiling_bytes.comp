// line: buffer w u32 y
// option: --max-bytes 100
// expect: bytes, above the ceiling of 100; the largest is case.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
