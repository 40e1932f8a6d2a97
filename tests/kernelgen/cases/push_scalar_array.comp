// line: buffer w u32 y
// expect: The kernel case has in its push block the member sizes, an array; a push block holds single words.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint count; uint sizes[8]; } push;
void main() { y[0] = push.sizes[push.count]; }
