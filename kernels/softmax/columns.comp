#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// SOFTMAX and LOG_SOFTMAX of rows that lie side by side in vectors, so that what a vector holds belongs to as many
// rows: `rows` counts vectors of them. A workgroup takes kVectors, whose elements its slices share. The walks at
// parameters[0] and parameters[reducedAt] step through vectors. Rows of at most kHeld elements a slice are read once.
#include "softmax/rows.glsl"

const uint kVectors = 32u;
const uint kSlices = 8u;
const uint kHeld = 8u;
const float kLowest = -3.40282347e38;

shared vec4 sharedTop[kFours][kSlices * kVectors];
shared vec4 sharedSum[kFours][kSlices * kVectors];

void loadBlock(uint first, uint step1, uint from, out uvec4 block[kHeld]) {
  [[unroll]] for (uint i = 0u; i < kHeld; ++i) block[i] =
      x[first + min(from + i * kSlices, push.elements - 1u) * step1];
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint slice = lane / kVectors;
  const uint row = group * kVectors + lane % kVectors;
  const uvec2 first = walkOffsets(0u, push.keptRank, min(row, push.rows - 1u)).xy + parameters[push.reducedAt].xy;
  const uvec2 step1 = push.reducedRank == 0u ? uvec2(0u) : parameters[push.reducedAt + 2u].xy;

  const vec4 infinity = vec4(uintBitsToFloat(0x7f800000u));
  uvec4 block[kHeld];
  vec4 top[kFours];
  vec4 sum[kFours];
  [[unroll]] for (uint f = 0u; f < kFours; ++f) {
    top[f] = vec4(kLowest);
    sum[f] = vec4(0.0);
  }
  for (uint from = slice; from < push.elements; from += kHeld * kSlices) {
    loadBlock(first.x, step1.x, from, block);
    [[unroll]] for (uint f = 0u; f < kFours; ++f) {
      vec4 highest = top[f];
      uvec4 magnitude = uvec4(0u);
      [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
        const vec4 v = fourOf(block[i], f);
        highest = max(highest, v);
        magnitude = max(magnitude, magnitudeOf(v));
      }
      // A NaN makes all results NaN, as infinity does.
      highest = mix(highest, infinity, greaterThan(magnitude, uvec4(0x7f800000u)));
      vec4 block4 = vec4(0.0);
      [[unroll]] for (uint i = 0u; i < kHeld; ++i) if (from + i * kSlices < push.elements) block4 +=
          powersOf(fourOf(block[i], f) - highest);
      sum[f] = sum[f] * powersOf(top[f] - highest) + block4;
      top[f] = highest;
    }
  }
  [[unroll]] for (uint f = 0u; f < kFours; ++f) {
    sharedTop[f][lane] = top[f];
    sharedSum[f][lane] = sum[f];
  }
  barrier();
  [[unroll]] for (uint f = 0u; f < kFours; ++f) {
    vec4 highest = vec4(kLowest);
    for (uint i = lane % kVectors; i < kSlices * kVectors; i += kVectors) highest = max(highest, sharedTop[f][i]);
    vec4 total = vec4(0.0);
    for (uint i = lane % kVectors; i < kSlices * kVectors; i += kVectors)
      total += sharedSum[f][i] * powersOf(sharedTop[f][i] - highest);
    const bvec4 undefined = bvec4(uvec4(equal(total, vec4(0.0))) | uvec4(equal(highest, infinity)));
    top[f] = highest;
    sum[f] = mix(total, vec4(uintBitsToFloat(0x7fc00000u)), undefined);
    if (kIsSoftmax) {
      sum[f] = 1.0 / sum[f];
    } else {
      [[unroll]] for (uint e = 0u; e < 4u; ++e) sum[f][e] = logAccurate(sum[f][e]);
    }
  }
  if (row >= push.rows) return;
  for (uint from = slice; from < push.elements; from += kHeld * kSlices) {
    if (push.elements > kHeld * kSlices) loadBlock(first.x, step1.x, from, block);
    [[unroll]] for (uint i = 0u; i < kHeld; ++i) {
      vec4 results[kFours];
      [[unroll]] for (uint f = 0u; f < kFours; ++f) {
        const vec4 difference = fourOf(block[i], f) - top[f];
        results[f] = kIsSoftmax ? powersOf(difference) * sum[f] : difference - sum[f];
      }
      const uint k = from + i * kSlices;
      if (k < push.elements) y[first.y + k * step1.y] = VECTOR_OF(results, 0u);
    }
  }
}
