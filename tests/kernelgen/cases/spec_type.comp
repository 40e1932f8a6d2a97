// line: buffer w u32 y
// line: spec 3 uniform i32 MODE 0 1
// expect: The kernel case has the specialization constant MODE of type uint; the manifest declares int.
#version 460
layout(constant_id = 3) const uint MODE = 0;
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = MODE; }
