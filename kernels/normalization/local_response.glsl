// What kernels of local response normalization by vectors have in common. Include after packed.glsl.
//   exponent, share, bias   as in local_response.comp
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/fours.glsl"

float power(float base) { return powAccurate(base, uintBitsToFloat(push.exponent)); }

// The power of a region's sum of squares, with share and bias, and its quotient by these.
void toPowers(inout vec4 sums[kFours], out vec4 quotients[kFours]) {
  bool isUsual = true;
  [[unroll]] for (uint i = 0u; i < kFours; ++i) {
    sums[i] = uintBitsToFloat(push.bias) + uintBitsToFloat(push.share) * sums[i];
    isUsual = isUsual && all(greaterThan(sums[i], vec4(1e-30))) && all(lessThan(sums[i], vec4(1e37)));
  }
  // Much shorter, of sums whose reciprocals are normal numbers.
  if (uintBitsToFloat(push.exponent) == -0.75 && isUsual) {
    [[unroll]] for (uint i = 0u; i < kFours; ++i) {
      const vec4 root = inversesqrt(sums[i]);
      const vec4 inverse = root * root;
      sums[i] = inverse * inversesqrt(root);
      quotients[i] = sums[i] * inverse;
    }
    return;
  }
  [[unroll]] for (uint i = 0u; i < kFours; ++i) quotients[i] = sums[i];
  FOR_EACH_ELEMENT(sums, kFours, power)
  [[unroll]] for (uint i = 0u; i < kFours; ++i) quotients[i] = sums[i] / quotients[i];
}
