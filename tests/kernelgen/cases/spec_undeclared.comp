// line: buffer w u32 y
// expect: The kernel case has the specialization constant 3 (MODE), which the manifest does not declare.
#version 460
layout(constant_id = 3) const uint MODE = 0;
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = MODE; }
