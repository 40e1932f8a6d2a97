#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// SOFTMAX and LOG_SOFTMAX of rows that lie in vectors and are longer than a workgroup holds, which it reads twice. The
// walk over the rows is at parameters[0] (operands: input, output).
#include "softmax/rows.glsl"

// Under way at once.
const uint kBlockVectors = 16u / kVectorElements;
const uint kBlockFours = 4u;

uint firstVector;
uint lastVector;

void loadBlock(uint from, out vec4 block[kBlockFours]) {
  uvec4 loaded[kBlockVectors];
  [[unroll]] for (uint i = 0u; i < kBlockVectors; ++i) loaded[i] =
      x[firstVector + min(from + i * gl_WorkGroupSize.x, lastVector)];
  [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) block[i] = fourOf(loaded[i / kFours], i % kFours);
}

void main() {
  const uint row = groupIndex();
  if (row >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uvec2 first = firstVectors(row);
  firstVector = first.x;
  lastVector = push.elements / kVectorElements - 1u;
  const uint step1 = kBlockVectors * gl_WorkGroupSize.x;

  // The sum of the powers of differences to the largest element so far, compensated (Kahan): a term of a long row is
  // small beside the sum.
  float top = uintBitsToFloat(0xff7fffffu);
  int key = numericKey(uintBitsToFloat(0xff800000u));
  precise float sum = 0.0;
  precise float lost = 0.0;
  for (uint from = lane; from <= lastVector; from += step1) {
    vec4 block[kBlockFours];
    loadBlock(from, block);
    vec4 highest = block[0];
    uvec4 magnitude = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) {
      highest = max(highest, block[i]);
      magnitude = max(magnitude, magnitudeOf(block[i]));
    }
    key = max(key, keyOf(highest, magnitude));
    const float higher = max(max(highest.x, highest.y), max(highest.z, highest.w));
    if (higher > top) {
      const float factor = powersOf(vec4(top - higher)).x;
      sum *= factor;
      lost *= factor;
      top = higher;
    }
    vec4 sums = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) if (from + i / kFours * gl_WorkGroupSize.x <= lastVector) sums +=
        powersOf(block[i] - top);
    precise float term = sumOf(sums) - lost;
    precise float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  key = keyOfRow(key);
  const float topOfRow = valueOfKey(key);
  float total = sumOfRow(vec2(sum * powersOf(vec4(top - topOfRow)).x, 0.0), 0u).x;
  if (isUndefined(key)) total = uintBitsToFloat(0x7fc00000u);
  const float scale = 1.0 / total;
  const float logSum = logAccurate(total);
  for (uint from = lane; from <= lastVector; from += step1) {
    vec4 block[kBlockFours];
    loadBlock(from, block);
    [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) {
      const vec4 difference = block[i] - topOfRow;
      block[i] = kIsSoftmax ? powersOf(difference) * scale : difference - logSum;
    }
    [[unroll]] for (uint i = 0u; i < kBlockVectors; ++i) {
      const uint at = from + i * gl_WorkGroupSize.x;
      if (at <= lastVector) y[first.y + at] = VECTOR_OF(block, i * kFours);
    }
  }
}
