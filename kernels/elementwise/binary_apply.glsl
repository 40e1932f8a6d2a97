// OP: the function of a kernel that computes one. FUSED: an activation applied to the result, 0 for none.
#define ATTRIBUTES push

#include "elementwise/attributes.glsl"
#include "elementwise/binary_functions.glsl"

#if T_IS_FLOAT
vec2 fusedParameters() { return vec2(uintBitsToFloat(push.aLow), uintBitsToFloat(push.bLow)); }
#endif

COMPUTE apply(COMPUTE a, COMPUTE b) {
  const COMPUTE y = applyFunction(a, b);
#if T_IS_FLOAT
  if (FUSED != 0u) return activate(FUSED, y, fusedParameters());
#endif
  return y;
}
