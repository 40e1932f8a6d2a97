// line: buffer w u32 y
// line: push u32 count
// expect: The kernel case has as word 5 of its push block uint rank at byte 20; the manifest declares nothing.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint groupsX; uint groupsXY; uint groups; uint firstGroup; uint count; uint rank; } push;
void main() { y[0] = push.rank; }
