// line: buffer w u32 y
// line: push u32 count rank
// expect: The kernel case has as word 5 of its push block uint rank at byte 24; the manifest declares uint rank at byte 20.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint groupsX; uint groupsXY; uint groups; uint firstGroup; uint count; layout(offset = 24) uint rank; } push;
void main() { y[0] = push.rank; }
