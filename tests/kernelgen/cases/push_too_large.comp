// access: w
// expect: The kernel case has a push block of 144 bytes, above the limit of 128.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push { uvec4 q[9]; } push;
void main() { y[0] = push.q[8].x; }
