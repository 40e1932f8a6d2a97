// How kernels load vectors of x and store vectors of y. Include after fours.glsl, and after x and y are declared.
//   CASTS   defined where rows of FLOAT32 may be read as FLOAT16 (X_HALVES) and stored so (Y_HALVES), four elements in the
//           place of a vector
#if CASTS
layout(set = 0, binding = BINDING_x, std430) readonly buffer xHalvesBuffer { uvec2 xHalves[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yHalvesBuffer { uvec2 yHalves[]; };
uvec4 loadedVector(uint at) {
  if (X_HALVES != 0u) return uvec4(xHalves[at], 0u, 0u);
  return x[at];
}
vec4 fourOfLoaded(uvec4 vector, uint four) {
  if (X_HALVES != 0u) return vec4(unpackHalf2x16(vector.x), unpackHalf2x16(vector.y));
  return fourOf(vector, four);
}
void storeVector(uint at, uvec4 vector) {
  if (Y_HALVES != 0u)
    yHalves[at] = halvesFromFloats(uintBitsToFloat(vector));
  else
    y[at] = vector;
}
#else
#define loadedVector(at) x[at]
#define fourOfLoaded(vector, four) fourOf(vector, four)
#define storeVector(at, vector) y[at] = vector
#endif
