// access: rw
// expect: The kernel case uses a mathematical function in double (GLSL.std.450 instruction 31), which does not survive HLSL
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Y { double y[]; };
void main() { y[0] = sqrt(y[1]); }
