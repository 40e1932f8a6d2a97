// OP: the function of a kernel that computes one.
#define ATTRIBUTES push

#include "elementwise/attributes.glsl"
#include "elementwise/saturated.glsl"
#include "elementwise/unary_functions.glsl"

COMPUTE apply(COMPUTE x) {
  if (push.hasScaleBias != 0u) x = scaleAndBias(x, uintBitsToFloat(push.scale), uintBitsToFloat(push.bias));
  return applyFunction(x, attributeValue(push.aLow, push.aHigh), attributeValue(push.bLow, push.bHigh));
}
