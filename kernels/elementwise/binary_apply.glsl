// The function of a kernel that computes one. FUSED is an activation applied to the result, 0 for none.
layout(constant_id = 0) const uint OP = 0;
layout(constant_id = 1) const uint FUSED = 0;
#define ATTRIBUTES push

#include "elementwise/attributes.glsl"
#include "elementwise/binary_functions.glsl"

COMPUTE apply(COMPUTE a, COMPUTE b) {
  const COMPUTE y = applyFunction(a, b);
#if T_IS_FLOAT
  if (FUSED != 0u) return activate(FUSED, y, vec2(uintBitsToFloat(push.aLow), uintBitsToFloat(push.bLow)));
#endif
  return y;
}
