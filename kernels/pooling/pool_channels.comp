#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What pool.comp does, of tensors whose channels lie in vectors of 16 bytes. Parameters as there, with vectors of channels
// before the spatial dimensions, and strides in vectors.
//   1 << sliceBits   invocations that share a vector of the output, each with a slice of its window
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "pooling/vectors.glsl"
#include "pooling/window.glsl"

PACKED_IN(x)
PACKED_OUT(y)

shared ivec4 slices[256];

// Combines four elements of each vector, from the first one on, of all slices: those of the first slice hold the result.
void combineSlices(uint lane, uint items, inout int results[kVectorElements], const uint first) {
  [[unroll]] for (uint i = 0u; i < 4u; ++i) slices[lane][i] = results[first + i];
  barrier();
  if (lane < items)
    for (uint other = lane + items; other < 256u; other += items) {
      const ivec4 four = slices[other];
      [[unroll]] for (uint i = 0u; i < 4u; ++i) results[first + i] = combine(results[first + i], four[i]);
    }
  barrier();
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint items = 256u >> push.sliceBits;
  const uint item = group * items + lane % items;
  const bool exists = item < push.count;
  uint rest = exists ? item : 0u;
  uvec2 at = uvec2(0u);
  uvec3 box = uvec3(0u);
  uvec3 steps = uvec3(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint next = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - next * size.x;
    rest = next;
    at += coordinate * parameters[2u * d + 1u].xy;
    if (d < 1u || d > 3u) continue;
    const uint s = d - 1u;
    const uvec4 dilation = parameters[10u + 2u * s];
    const uvec4 source = parameters[11u + 2u * s];
    uint first;
    uint covered;
    windowCoverage(coordinate, dilation, source.x, first, covered);
    at.x += first * source.y;
    [[unroll]] for (uint i = 0u; i < 3u; ++i) {
      box[i] = i == s ? covered : box[i];
      steps[i] = i == s ? dilation.y * source.y : steps[i];
    }
  }
  const uint total = box.x * box.y * box.z;
  int results[kVectorElements];
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) results[i] = emptyResult();
  uvec3 place = push.sliceBits == 0u ? uvec3(0u) : boxDigits(lane / items, box);
  const uvec3 advance = push.sliceBits == 0u ? uvec3(1u, 0u, 0u) : boxDigits(1u << push.sliceBits, box);
  for (uint left = stepsFrom(lane / items, 1u << push.sliceBits, total); left != 0u; --left) {
    const uvec3 offsets = place * steps;
    const uvec4 vector = x[at.x + offsets.x + offsets.y + offsets.z];
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) results[i] = combine(results[i], elementOf(vector, i));
    place = boxAdvance(place, advance, box);
  }
  if (push.sliceBits != 0u) {
    [[unroll]] for (uint i = 0u; i < kVectorElements; i += 4u) combineSlices(lane, items, results, i);
  }
  if (!exists || lane >= items) return;
  uvec4 packed = uvec4(0u);
  if (HAS_KEYS) {
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) packed[i / PACKED_LANES] |=
        LANE_BITS(bitsOfKey(results[i]), i % PACKED_LANES);
  }
#if T_IS_FLOAT
  else {
    vec4 fours[kFours];
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) fours[i / 4u][i % 4u] = finishFloat(results[i], total);
    packed = VECTOR_OF(fours, 0u);
  }
#endif
  y[at.y] = packed;
}
