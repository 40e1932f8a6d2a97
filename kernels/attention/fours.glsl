// Query, key and value as fours of channels that lie side by side.
#if T == f16
#define FOUR_RAWS uvec2
vec4 floatsOf(uvec2 raws) { return vec4(unpackHalf2x16(raws.x), unpackHalf2x16(raws.y)); }
uvec2 rawsOf(vec4 values) {
  const uvec4 raws = uvec4(toRaw(values.x), toRaw(values.y), toRaw(values.z), toRaw(values.w));
  return (raws.xz & 0xffffu) | raws.yw << 16;
}
#else
#define FOUR_RAWS uvec4
vec4 floatsOf(uvec4 raws) { return uintBitsToFloat(raws); }
uvec4 rawsOf(vec4 values) { return floatBitsToUint(values); }
#endif
layout(set = 0, binding = BINDING_q, std430) readonly buffer qBuffer { FOUR_RAWS q[]; };
layout(set = 0, binding = BINDING_k, std430) readonly buffer kBuffer { FOUR_RAWS k[]; };
layout(set = 0, binding = BINDING_v, std430) readonly buffer vBuffer { FOUR_RAWS v[]; };
