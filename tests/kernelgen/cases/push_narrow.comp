// line: buffer w u32 y
// line: push u64 wide
// line: push i64 offset
// line: push f64 scale
// line: push f32 factor
// line: push i32 delta
// line: push u16 low high
// line: push i8 first
// line: push u8 last
// line: vulkan-only
// kernels.txt: case * 0 54 0 w 1x1x1 * vulkan-only
#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uint y[]; };
void main() {
  y[0] = uint(push.wide) + uint(push.offset) + uint(push.scale) + uint(push.factor) + uint(push.delta);
  y[1] = uint(push.low) + uint(push.high) + uint(push.first) + uint(push.last);
}
