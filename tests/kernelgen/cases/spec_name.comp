// line: buffer w u32 y
// line: spec 3 structural u32 KIND 0 1
// expect: The kernel case names the specialization constant 3 MODE; the manifest names it KIND.
#version 460
layout(constant_id = 3) const uint MODE = 0;
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = MODE; }
