// line: buffer w u32 y
// expect: The kernel case is refused by glslang
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = unknownName; }
