// access: w
// expect: The kernel case has in its push block the member big of type double; such a block holds 32-bit words only.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push { double big; } push;
void main() { y[0] = uint(push.big); }
