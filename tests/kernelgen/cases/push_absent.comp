// line: buffer w u32 y
// line: push u32 count
// expect: The kernel case has no push block; the manifest declares push words, which interface.glsl has.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = 1; }
