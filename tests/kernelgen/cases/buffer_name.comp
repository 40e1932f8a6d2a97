// line: buffer w u32 z
// expect: The kernel case has the block yBuffer at binding 0; the manifest declares the buffer z there, whose block is zBuffer.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
