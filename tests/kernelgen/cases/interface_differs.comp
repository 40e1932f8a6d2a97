// line: buffer r u32 a
// line: buffer w u32 y
// expect: The kernel case has another interface with DIMPLE_HLSL than without.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer aBuffer { uint a[]; };
#if DIMPLE_HLSL
layout(set = 0, binding = 1, std430) buffer yBuffer { uint y[]; };
#else
layout(set = 0, binding = 1, std430) writeonly buffer yBuffer { uint y[]; };
#endif
void main() { y[0] = a[0]; }
