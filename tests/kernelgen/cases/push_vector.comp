// line: buffer w u32 y
// expect: The kernel case has in its push block the member sizes of type uvec2; its types are u8, i8, u16, i16, u32, i32, f32, u64, i64, f64.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer yBuffer { uint y[]; };
layout(push_constant) uniform Push { uvec2 sizes; } push;
void main() { y[0] = push.sizes.y; }
