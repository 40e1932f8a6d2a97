// line: buffer w u32 y
// expect: The kernel case has images; kernels have storage buffers, one uniform block and push constants.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(set = 0, binding = 1, r32ui) readonly uniform uimage2D picture;
void main() { y[0] = imageLoad(picture, ivec2(0)).x; }
