// With VECTORS the elements that a kernel moves are vectors of 16 bytes. Include after types.glsl.
#ifdef VECTORS
#undef RAW
#define RAW uvec4
#undef TENSOR_IN
#undef TENSOR_OUT
#define TENSOR_IN(NAME)                                                                             \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uvec4 NAME[]; }; \
  uvec4 loadRaw_##NAME(uint i) { return NAME[i]; }
#define TENSOR_OUT(NAME)                                                                   \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uvec4 NAME[]; }; \
  void storeRaw_##NAME(uint i, uvec4 bits) { NAME[i] = bits; }
#endif
