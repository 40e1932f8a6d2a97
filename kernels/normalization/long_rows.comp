#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what normalize_row.comp does, for rows that lie in vectors and are longer than a workgroup holds, which it reads
// twice.
#include "normalization/rows.glsl"

// Under way at once.
const uint kBlockVectors = 16u / kVectorElements;
const uint kBlockFours = 4u;

uint lastVector;

void loadBlock(uint firstVector, uint from, out vec4 block[kBlockFours]) {
  uvec4 loaded[kBlockVectors];
  [[unroll]] for (uint i = 0u; i < kBlockVectors; ++i) loaded[i] =
      x[firstVector + min(from + i * gl_WorkGroupSize.x, lastVector)];
  [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) block[i] = fourOf(loaded[i / kFours], i % kFours);
}

// How many elements were summed, their mean, and the squares of the differences from it.
struct Sums {
  float count;
  float mean;
  float square;
};

// Returns the sums of the existing vectors of a block.
Sums sumsOf(vec4 block[kBlockFours], uint from) {
  const uint vectors = min((lastVector - from) / gl_WorkGroupSize.x + 1u, kBlockVectors);
  const float count = float(vectors * kVectorElements);
  vec4 sums = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) if (i / kFours < vectors) sums += block[i];
  const float mean = has(16u) ? sumOf(sums) / count : 0.0;
  vec4 squares = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) {
    const vec4 difference = block[i] - mean;
    if (i / kFours < vectors) squares += difference * difference;
  }
  return Sums(count, mean, sumOf(squares));
}

void main() {
  const uint row = groupIndex();
  if (row >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uvec4 first = firstElements(row);
  lastVector = push.elements / kVectorElements - 1u;
  const uint step1 = kBlockVectors * gl_WorkGroupSize.x;

  Sums sums = Sums(0.0, 0.0, 0.0);
  for (uint from = lane; from <= lastVector; from += step1) {
    vec4 block[kBlockFours];
    loadBlock(first.x / kVectorElements, from, block);
    const Sums more = sumsOf(block, from);
    const float difference = more.mean - sums.mean;
    const float share = more.count / (sums.count + more.count);
    sums.mean += difference * share;
    sums.square += more.square + difference * difference * share * sums.count;
    sums.count += more.count;
  }
  const float mean = sumOfRow(vec2(sums.count * sums.mean, 0.0), 0u).x / float(push.elements);
  const float difference = sums.mean - mean;
  const vec2 both = sumOfRow(sums.count * vec2(difference, difference * difference) + vec2(0.0, sums.square), 1u);
  const float correction = both.x / float(push.elements);
  const Moments moments = momentsOf(correction, both.y - both.x * correction);

  const vec2 factors = sharedOf(first);
  for (uint from = lane; from <= lastVector; from += step1) {
    vec4 block[kBlockFours];
    loadBlock(first.x / kVectorElements, from, block);
    [[unroll]] for (uint i = 0u; i < kBlockFours; ++i) {
      const uint at = min(from + i / kFours * gl_WorkGroupSize.x, lastVector);
      block[i] = finishFour(((block[i] - mean) - moments.mean) * moments.factor, alongOf(first, at), i % kFours, factors);
    }
    if (FUSED != 0u) FOR_EACH_ELEMENT(block, kBlockFours, fused)
    [[unroll]] for (uint i = 0u; i < kBlockVectors; ++i) {
      const uint at = from + i * gl_WorkGroupSize.x;
      if (at <= lastVector) y[first.y / kVectorElements + at] = VECTOR_OF(block, i * kFours);
    }
  }
}
