// line: buffer rw u32 y
// expect: The kernel case has ??? in its HLSL, where there is no word for a type: ???
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };
void main() {
  uint8_t small = uint8_t(y[1]);
  y[0] = uint(small * small);
}
