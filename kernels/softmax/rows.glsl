// What kernels of rows in vectors have in common: SOFTMAX and LOG_SOFTMAX.
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/rows.glsl"
#include "common/powers.glsl"

PACKED_IN(x)
PACKED_OUT(y)
#include "common/cast_rows.glsl"

const bool kIsSoftmax = FUNCTION == DML_OPERATOR_ACTIVATION_SOFTMAX;

shared int sharedKey[MOST_INVOCATIONS];
shared int shareOfKey[kShares * kMostRows];

// The largest of all invocations of the row.
int keyOfRow(int key) {
  const uint lane = laneOfRow();
  const uint first = rowOfGroup() * ROW_INVOCATIONS;
  const uint firstShare = rowOfGroup() * kShares;
  sharedKey[first + lane] = key;
  barrier();
  if (lane < kShares) {
    for (uint i = lane + kShares; i < ROW_INVOCATIONS; i += kShares) key = max(key, sharedKey[first + i]);
    shareOfKey[firstShare + lane] = key;
  }
  barrier();
  key = shareOfKey[firstShare];
  [[unroll]] for (uint i = 1u; i < kShares; ++i) key = max(key, shareOfKey[firstShare + i]);
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

// First vectors of a row of the input and the output.
uvec2 firstVectors(uint row) { return walkOffsets(0u, push.keptRank, row).xy / kVectorElements; }
