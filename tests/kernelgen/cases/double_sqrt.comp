// line: buffer rw f64 y
// expect: The kernel case uses a mathematical function in double (GLSL.std.450 instruction 31), which does not survive HLSL
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { double y[]; };
void main() { y[0] = sqrt(y[1]); }
