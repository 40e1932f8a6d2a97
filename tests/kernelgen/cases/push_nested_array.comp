// access: w
// expect: The kernel case has in its push block the member sizes, an array of uvec2; HLSL packs it differently
#version 460
struct Tensor { uvec2 sizes[2]; };
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform Push { Tensor tensor; } push;
void main() { y[0] = push.tensor.sizes[1].y; }
