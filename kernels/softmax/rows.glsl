// What kernels of rows in vectors have in common: SOFTMAX and LOG_SOFTMAX.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/rows.glsl"

PACKED_IN(x)
PACKED_OUT(y)

const bool kIsSoftmax = FUNCTION == DML_OPERATOR_ACTIVATION_SOFTMAX;

shared int sharedKey[kMostInvocations];
shared int shareOfKey[kShares];

// The largest of all invocations of the workgroup.
int keyOfRow(int key) {
  const uint lane = gl_LocalInvocationID.x;
  sharedKey[lane] = key;
  barrier();
  if (lane < kShares) {
    for (uint i = lane + kShares; i < gl_WorkGroupSize.x; i += kShares) key = max(key, sharedKey[i]);
    shareOfKey[lane] = key;
  }
  barrier();
  key = shareOfKey[0];
  [[unroll]] for (uint i = 1u; i < kShares; ++i) key = max(key, shareOfKey[i]);
  return key;
}

// Of an invocation's elements: any number near the largest will do, so that denormals may be flushed; NaNs are looked
// for by their bits.
int keyOf(vec4 highest, uvec4 magnitude) {
  const float top = max(max(highest.x, highest.y), max(highest.z, highest.w));
  const uint most = max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
  return most > 0x7f800000u ? 0x7fffffff : numericKey(top);
}
uvec4 magnitudeOf(vec4 v) { return floatBitsToUint(v) & 0x7fffffffu; }

// An infinity or a NaN at the top makes differences NaN.
bool isUndefined(int key) { return key >= 0x7f800000 || key == numericKey(uintBitsToFloat(0xff800000u)); }

// e^x for x from -infinity to 0; 0 below the smallest normal number. Results that are rounded to FLOAT16 may be off by
// what the device's own function is.
#if T == f16
vec4 powersOf(vec4 v) { return exp2(v * 1.44269504); }
#else
vec4 powersOf(vec4 v) {
  const vec4 bounded = max(v, vec4(-88.0));
  // The sum's last bits are the nearest integer.
  precise vec4 shifted = bounded * 1.44269504 + 12582912.0;
  precise vec4 whole = shifted - 12582912.0;
  precise vec4 r = bounded - whole * 0.693359375;
  r = r + whole * 2.12194440e-4;
  vec4 p = vec4(1.9875691500e-4);
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  p = p * (r * r) + r + 1.0;
  const uvec4 power = floatBitsToUint(p) + (floatBitsToUint(shifted) << 23);
  // The logarithm of 2^-126.
  return mix(uintBitsToFloat(power), vec4(0.0), lessThan(v, vec4(-87.336540)));
}
#endif

// First vectors of a row of the input and the output.
uvec2 firstVectors(uint row) { return walkOffsets(0u, push.keptRank, row).xy / kVectorElements; }
