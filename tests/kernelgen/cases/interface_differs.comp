// access: r w
// expect: The kernel case has another interface with DIMPLE_HLSL than without.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[]; };
#if DIMPLE_HLSL
layout(set = 0, binding = 1, std430) buffer Y { uint y[]; };
#else
layout(set = 0, binding = 1, std430) writeonly buffer Y { uint y[]; };
#endif
void main() { y[0] = a[0]; }
