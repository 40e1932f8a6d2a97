#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// SOFTMAX, LOG_SOFTMAX and HARDMAX of each of `rows` rows of `elements` elements: a workgroup's with ROW, an
// invocation's without.
//   keptRank, reducedRank   walks at parameters[0] and parameters[reducedAt] (operands: input, output)
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"

// CACHED: with ROW, a row has at most kCached elements per invocation, which are loaded once.
const uint kCached = 16u;

TENSOR_IN(x)
TENSOR_OUT(y)

shared float sharedValue[256];
shared uint sharedIndex[256];

// Orders elements: zeros of both signs are equal, NaNs of both signs lie above infinity.
int compareKey(float v) { return isNan(v) ? 0x7fffffff : numericKey(v); }

// Input and output offset of element k of a row.
uvec2 offsetOf(uvec4 row, uint k) {
  // One dimension needs no division.
  if (push.reducedRank <= 1u) return row.xy + parameters[push.reducedAt].xy + k * parameters[push.reducedAt + 2u].xy;
  return row.xy + walkOffsets(push.reducedAt, push.reducedRank, k).xy;
}
float load(uvec4 row, uint k) { return fromRaw(loadRaw_x(offsetOf(row, k).x)); }
void store(uvec4 row, uint k, float v) { storeRaw_y(offsetOf(row, k).y, toRaw(v)); }

// The largest element and its first index.
struct Top {
  float value;
  uint index;
};
Top higher(Top a, Top b) {
  const int ka = compareKey(a.value);
  const int kb = compareKey(b.value);
  return kb > ka || (kb == ka && b.index < a.index) ? b : a;
}

// Of all invocations of the workgroup.
Top topOfRow(Top top, uint lane) {
  sharedValue[lane] = top.value;
  sharedIndex[lane] = top.index;
  for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) {
      top = higher(top, Top(sharedValue[lane + half1], sharedIndex[lane + half1]));
      sharedValue[lane] = top.value;
      sharedIndex[lane] = top.index;
    }
  }
  barrier();
  top = Top(sharedValue[0], sharedIndex[0]);
  barrier();
  return top;
}

// Trees of four branches, for fewer barriers than of two.
float sumOfRow(float sum, uint lane) {
  sharedValue[lane] = sum;
  for (uint quarter = gl_WorkGroupSize.x / 4u; quarter > 0u; quarter /= 4u) {
    barrier();
    if (lane < quarter) {
      sum = (sum + sharedValue[lane + quarter]) +
            (sharedValue[lane + 2u * quarter] + sharedValue[lane + 3u * quarter]);
      sharedValue[lane] = sum;
    }
  }
  barrier();
  return sharedValue[0];
}

float resultOf(float difference, float sum, float logSum) {
  return FUNCTION == DML_OPERATOR_ACTIVATION_SOFTMAX ? expAccurate(difference) / sum : difference - logSum;
}

int keyOfRow(int key, uint lane) {
  sharedIndex[lane] = uint(key);
  for (uint quarter = gl_WorkGroupSize.x / 4u; quarter > 0u; quarter /= 4u) {
    barrier();
    if (lane < quarter) {
      key = max(key, int(sharedIndex[lane + quarter]));
      key = max(key, max(int(sharedIndex[lane + 2u * quarter]), int(sharedIndex[lane + 3u * quarter])));
      sharedIndex[lane] = uint(key);
    }
  }
  barrier();
  return int(sharedIndex[0]);
}

// A row whose elements the invocations hold. All are loaded before the first is used: what lies behind the row's end is
// its last element again.
void cachedRow(uvec4 row, uint lane) {
  const uint last = push.elements - 1u;
  float held[kCached];
  [[unroll]] for (uint i = 0u; i < kCached; ++i) held[i] = load(row, min(lane + i * gl_WorkGroupSize.x, last));
  // Any number near the largest will do, so that denormals may be flushed; NaNs are looked for by their bits.
  float highest = held[0];
  uint magnitude = 0u;
  [[unroll]] for (uint i = 0u; i < kCached; ++i) {
    highest = max(highest, held[i]);
    magnitude = max(magnitude, floatBitsToUint(held[i]) & 0x7fffffffu);
  }
  const int key = keyOfRow(magnitude > 0x7f800000u ? 0x7fffffff : numericKey(highest), lane);
  // An infinity or a NaN at the top makes differences NaN.
  const bool undefined = key >= 0x7f800000 || key == numericKey(uintBitsToFloat(0xff800000u));
  const float top = valueOfKey(key);
  const bool isSoftmax = FUNCTION == DML_OPERATOR_ACTIVATION_SOFTMAX;
  float sum = 0.0;
  [[unroll]] for (uint i = 0u; i < kCached; ++i) {
    held[i] -= top;
    const float power = expOfNegative(held[i]);
    if (isSoftmax) held[i] = power;
    if (lane + i * gl_WorkGroupSize.x <= last) sum += power;
  }
  sum = sumOfRow(sum, lane);
  // Between 1 and the row's length, so that its reciprocal is no denormal.
  const float scale = 1.0 / sum;
  const float logSum = logAccurate(sum);
  [[unroll]] for (uint i = 0u; i < kCached; ++i) {
    const uint k = lane + i * gl_WorkGroupSize.x;
    const float result = isSoftmax ? held[i] * scale : held[i] - logSum;
    if (k <= last) store(row, k, undefined ? uintBitsToFloat(0x7fc00000u) : result);
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint rowIndex = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && rowIndex >= push.rows) return;
  const uint first = ROW != 0u ? lane : 0u;
  const uint step1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;
  const uvec4 row = walkOffsets(0u, push.keptRank, rowIndex);

  if (CACHED != 0u) {
    cachedRow(row, lane);
    return;
  }
  // Invocations without elements lose to every element, even to -infinity, by their index.
  Top top = Top(uintBitsToFloat(0xff800000u), 0xffffffffu);
  for (uint k = first; k < push.elements; k += step1) top = higher(top, Top(load(row, k), k));
  if (ROW != 0u) top = topOfRow(top, lane);

  if (FUNCTION == DML_OPERATOR_ACTIVATION_HARDMAX) {
    for (uint k = first; k < push.elements; k += step1) store(row, k, k == top.index ? 1.0 : 0.0);
    return;
  }
  // The differences to an infinity or a NaN are NaN, at one element at least.
  const bool undefined = (floatBitsToUint(top.value) & 0x7f800000u) == 0x7f800000u;
  // Compensated (Kahan): a term of a long row is small beside the sum.
  precise float sum = 0.0;
  precise float lost = 0.0;
  if (!undefined) {
    for (uint k = first; k < push.elements; k += step1) {
      precise float term = expAccurate(load(row, k) - top.value) - lost;
      precise float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
  }
  if (ROW != 0u) sum = sumOfRow(sum, lane);
  const float logSum = logAccurate(sum);
  for (uint k = first; k < push.elements; k += step1) {
    float result = resultOf(load(row, k) - top.value, sum, logSum);
    if (undefined) result = uintBitsToFloat(0x7fc00000u);
    store(row, k, result);
  }
}
