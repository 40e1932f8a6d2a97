#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what normalize_row.comp does, for rows that lie in vectors, which a workgroup holds, HELD elements per
// invocation.
#include "normalization/rows.glsl"

const uint kHeldVectors = HELD / kVectorElements;
const uint kHeldFours = HELD / 4u;
// Whether scale and bias are loaded with the row, where that takes few registers.
const bool kLoadsEarly = kHeldVectors <= 2u;

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = laneOfRow();
  // Behind the last row it is computed again, and not stored.
  const uint row = min(rowOf(group), push.rows - 1u);
  const bool isStored = rowOf(group) < push.rows;
  const uint last = push.elements / kVectorElements - 1u;
  const uvec4 first = firstElements(row);

  // All vectors are loaded before the first one is used. Behind the row's end, its last vector is loaded again.
  uvec4 loaded[kHeldVectors];
  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) loaded[i] =
      loadedVector(first.x / kVectorElements + min(lane + i * ROW_INVOCATIONS, last));
  const vec2 factors = sharedOf(first);
  Along along[kHeldVectors];
  if (kLoadsEarly) {
    [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) along[i] = alongOf(first, min(lane + i * ROW_INVOCATIONS, last));
  }
  vec4 held[kHeldFours];
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) held[i] = fourOfLoaded(loaded[i / kFours], i % kFours);

  float mean = 0.0;
  if (has(16u)) {
    vec4 sums = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) if (lane + i / kFours * ROW_INVOCATIONS <= last) sums +=
        held[i];
    mean = sumOfRow(vec2(sumOf(sums), 0.0), 0u).x / float(push.elements);
  }
  vec4 sums = vec4(0.0);
  vec4 squares = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) {
    held[i] -= mean;
    if (lane + i / kFours * ROW_INVOCATIONS > last) continue;
    sums += held[i];
    squares += held[i] * held[i];
  }
  const vec2 both = sumOfRow(vec2(sumOf(sums), sumOf(squares)), 1u);
  // The differences from the mean would sum to 0: what they do sum to corrects it.
  const float correction = has(16u) ? both.x / float(push.elements) : 0.0;
  const Moments moments = momentsOf(correction, both.y - (has(16u) ? both.x * correction : 0.0));

  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) {
    if (!kLoadsEarly) along[i] = alongOf(first, min(lane + i * ROW_INVOCATIONS, last));
    [[unroll]] for (uint four = 0u; four < kFours; ++four) held[i * kFours + four] =
        finishFour((held[i * kFours + four] - moments.mean) * moments.factor, along[i], four, factors);
  }
  if (FUSED != 0u) FOR_EACH_ELEMENT(held, kHeldFours, fused)
  if (kScalesHalves) {
    [[unroll]] for (uint i = 0u; i < kHeldFours; ++i) held[i] =
        scaledHalves(held[i], first, min(lane + i / kFours * ROW_INVOCATIONS, last));
  }
  [[unroll]] for (uint i = 0u; i < kHeldVectors; ++i) {
    const uint at = lane + i * ROW_INVOCATIONS;
    if (at <= last && isStored) storeVector(first.y / kVectorElements + at, VECTOR_OF(held, i * kFours));
  }
}
