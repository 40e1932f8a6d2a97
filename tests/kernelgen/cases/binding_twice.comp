// line: buffer rw u32,u32x4 words
// expect: The kernel case has two storage buffers at binding 0, which HLSL cannot say.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer wordsBuffer { uint words[]; };
layout(set = 0, binding = 0, std430) buffer quadsBuffer { uvec4 quads[]; };
void main() { quads[1] = uvec4(words[0]); }
