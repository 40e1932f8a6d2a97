// line: buffer w f32,u32x2 y
// expect: The kernel case has elements of type uint in the block yBuffer; the manifest declares float or uvec2 for the buffer y.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
