// line: buffer w u32 y
// expect: The kernel case may have one uniform block, at binding 0 of set 1.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(set = 2, binding = 0, std140) uniform Parameters { uvec4 parameters[2]; };
void main() { y[0] = parameters[1].x; }
