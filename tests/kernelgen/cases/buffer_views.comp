// line: buffer w u32,u32x4 y
// kernels.txt: case * 0 0 0 w 1x1x1 0 portable
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(set = 0, binding = 0, std430) writeonly buffer yVectorBuffer { uvec4 yVectors[]; };
void main() { y[0] = 1; yVectors[1] = uvec4(2); }
