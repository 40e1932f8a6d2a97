#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Coordinates of the elements that are not 0, in row-major order. A workgroup takes a chunk. One dispatch counts those
// of each chunk; a scan of the counts follows; with WRITES the chunks then know where in the coordinates to begin.
//   rank, fullRank      walks over the input at parameters[0], and over its dimensions unmerged at parameters[fullAt]
//   mask                bits of an element that make it differ from 0
//   packed              elements lie side by side in the order of the walk, and chunks begin with vectors of 16 bytes
//   columns             coordinates wanted of each element, those of the last dimensions
#include "common/grid.glsl"
#include "common/walk.glsl"

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uvec4 x[]; };
layout(set = 0, binding = BINDING_counts, std430) buffer countsBuffer { uint counts[]; };
layout(set = 0, binding = BINDING_count, std430) buffer countBuffer { uint count[]; };
layout(set = 0, binding = BINDING_coordinates, std430) buffer coordinatesBuffer { uint coordinates[]; };

const uint kPerLane = 8u;

#define RUNNING uint
uint identity() { return 0u; }
uint combine(uint a, uint b) { return a + b; }
#include "scan/totals.glsl"

shared uint sharedIndex[256u * kPerLane];  // of what a tile has, in order

bool isNonzero(uint index) {
  const uint at = walkOffsets(0u, push.rank, index).x;
  const uint bit = at % (128u / T_BITS) * T_BITS;
  return (x[at / (128u / T_BITS)][bit / 32u] >> bit % 32u & push.mask) != 0u;
}

// Which of the elements from `first` on differ from 0.
uint foundFrom(uint first, uint end) {
  uint found = 0u;
  if (push.packed == 0u || first + kPerLane > end) {
    for (uint j = 0u; j < kPerLane; ++j)
      if (first + j < end && isNonzero(first + j)) found |= 1u << j;
    return found;
  }
#if T_BITS == 32
  const uvec4 low = x[first / 4u];
  const uvec4 high = x[first / 4u + 1u];
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    if ((low[j] & push.mask) != 0u) found |= 1u << j;
    if ((high[j] & push.mask) != 0u) found |= 16u << j;
  }
#elif T_BITS == 16
  const uvec4 words = x[first / 8u];
  [[unroll]] for (uint j = 0u; j < kPerLane; ++j)
    if ((words[j / 2u] >> (j % 2u * 16u) & push.mask) != 0u) found |= 1u << j;
#else
  // Only these elements are read, which may be the last ones of the tensor.
  const uvec2 words = uvec2(x[first / 16u][first / 4u % 4u], x[first / 16u][first / 4u % 4u + 1u]);
  [[unroll]] for (uint j = 0u; j < kPerLane; ++j)
    if ((words[j / 4u] >> (j % 4u * 8u) & push.mask) != 0u) found |= 1u << j;
#endif
  return found;
}

void writeCoordinates(uint row, uint index) {
  uint rest = index;
  for (uint d = 0u; d < push.columns; ++d) {
    const uvec4 dimension = parameters[push.fullAt + 1u + 2u * d];
    const uint quotient = d + 1u < push.fullRank ? divideBy(rest, dimension) : 0u;
    coordinates[row * push.rowStep + (push.columns - 1u - d) * push.columnStep] = rest - quotient * dimension.x;
    rest = quotient;
  }
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint begin = group * push.chunkLength;
  const uint end = begin + min(push.chunkLength, push.elements - begin);
  const uint step1 = gl_WorkGroupSize.x * kPerLane;
  uint before;
  uint all;
  if (WRITES == 0u) {
    uint total = 0u;
    for (uint first = begin + lane * kPerLane; first < end; first += step1)
      total += uint(bitCount(foundFrom(first, end)));
    scanTotals(total, before, all);
    if (lane == 0u) counts[group] = all;
    return;
  }
  uint running = counts[group];
  for (uint tile = begin; tile < end; tile += step1) {
    const uint first = tile + lane * kPerLane;
    uint found = first < end ? foundFrom(first, end) : 0u;
    scanTotals(uint(bitCount(found)), before, all);
    for (; found != 0u; found &= found - 1u) sharedIndex[before++] = first + uint(findLSB(found));
    barrier();
    for (uint i = lane; i < all; i += gl_WorkGroupSize.x) writeCoordinates(running + i, sharedIndex[i]);
    barrier();
    running += all;
  }
  if (lane == 0u && end == push.elements) count[0] = running;
}
