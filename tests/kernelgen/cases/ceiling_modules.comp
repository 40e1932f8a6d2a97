// line: buffer w u32 y
// line: form a
// line: form b
// line: form c
// option: --max-modules 2
// expect: There are 3 modules of DXIL, above the ceiling of 2.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
