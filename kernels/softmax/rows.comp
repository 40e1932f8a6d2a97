#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// SOFTMAX and LOG_SOFTMAX of rows that lie in vectors, which a workgroup holds, HELD elements per invocation. The walk
// over the rows is at parameters[0] (operands: input, output).
#include "softmax/rows.glsl"

const uint kHeldVectors = HELD / kVectorElements;
const uint kHeldFours = HELD / 4u;

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = laneOfRow();
  // Behind the last row it is computed again, and not stored.
  const uint row = min(rowOf(group), push.rows - 1u);
  const bool isStored = rowOf(group) < push.rows;
  const uint last = push.elements / kVectorElements - 1u;
  const uvec2 first = firstVectors(row);

  // All vectors are loaded before the first one is used. Behind the row's end, its last vector is loaded again.
  uvec4 loaded[kHeldVectors];
  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) loaded[i] =
      loadedVector(first.x + min(lane + i * ROW_INVOCATIONS, last));
  vec4 held[kHeldFours];
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) held[i] = fourOfLoaded(loaded[i / kFours], i % kFours);

  vec4 highest = held[0];
  uvec4 magnitude = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) {
    highest = max(highest, held[i]);
    magnitude = max(magnitude, magnitudeOf(held[i]));
  }
  const int key = keyOfRow(keyOf(highest, magnitude));
  const float top = valueOfKey(key);
  vec4 sums = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) {
    held[i] -= top;
    const vec4 powers = powersOf(held[i]);
    if (kIsSoftmax) held[i] = powers;
    if (lane + i / kFours * ROW_INVOCATIONS <= last) sums += powers;
  }
  // Between 1 and the row's length, so that its reciprocal is no denormal.
  float sum = sumOfRow(vec2(sumOf(sums), 0.0), 0u).x;
  if (isUndefined(key)) sum = uintBitsToFloat(0x7fc00000u);
  const float scale = 1.0 / sum;
  const float logSum = logAccurate(sum);
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) held[i] = kIsSoftmax ? held[i] * scale : held[i] - logSum;
  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) {
    const uint at = lane + i * ROW_INVOCATIONS;
    if (at <= last && isStored) storeVector(first.y + at, VECTOR_OF(held, i * kFours));
  }
}
