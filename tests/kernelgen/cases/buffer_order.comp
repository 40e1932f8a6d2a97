// line: buffer w u32 yScale
// line: buffer w u32 y
// expect: The kernel case has the block yBuffer at binding 0; the manifest declares the buffer yScale there, whose block is yScaleBuffer.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(set = 0, binding = 1, std430) writeonly buffer yScaleBuffer { uint yScale[]; };
void main() { y[0] = 1; yScale[0] = 1; }
