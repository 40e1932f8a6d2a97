// line: buffer w u32 y
// line: push u64 wide
// line: push i64 offset
// line: push f32 factor
// line: push i32 delta
// line: push u16 low
// kernels.txt: case * * 42 0 w 1x1x1 * portable
#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 1) in;
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yBuffer { uint y[]; };
void main() { y[0] = uint(push.wide) + uint(push.offset) + uint(push.factor) + uint(push.delta) + uint(push.low); }
