// line: buffer w u32 y
// line: push u32 count
// expect: The kernel case has as word 4 of its push block int count at byte 16; the manifest declares uint count at byte 16.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uint groupsX; uint groupsXY; uint groups; uint firstGroup; int count; } push;
void main() { y[0] = uint(push.count); }
