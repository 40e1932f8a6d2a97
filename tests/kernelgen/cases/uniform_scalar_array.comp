// line: buffer w u32 y
// expect: The kernel case has in its uniform block the member sizes, an array of uint; HLSL packs it differently
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(set = 1, binding = 0, std140) uniform Parameters { uint sizes[8]; };
void main() { y[0] = sizes[3]; }
