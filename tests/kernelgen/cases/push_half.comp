// line: buffer w u32 y
// expect: The kernel case has in its push block the member low of type float16_t; its types are
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { float16_t low; } push;
void main() { y[0] = uint(push.low); }
