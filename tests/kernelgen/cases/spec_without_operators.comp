// line: buffer w u32 y
// line: spec 0 structural u32 OP operators
// expect: The kernel case has no case label that is a DML_OPERATOR_ enumerator, so OP has no value.
#version 460
layout(constant_id = 0) const uint OP = 0;
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = OP; }
