#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Coordinates of the elements that are not 0, in row-major order. A workgroup takes a chunk. One dispatch counts those of
// each chunk; a scan of the counts follows; with WRITES the chunks then know where in the coordinates to begin.
//   rank, fullRank      walks over the input at parameters[0], and over its dimensions unmerged at parameters[fullAt]
//   mask                bits of an element that make it differ from 0
//   columns             coordinates wanted of each element, those of the last dimensions
#include "common/grid.glsl"
#include "common/walk.glsl"

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uint x[]; };
layout(set = 0, binding = BINDING_counts, std430) buffer countsBuffer { uint counts[]; };
layout(set = 0, binding = BINDING_count, std430) buffer countBuffer { uint count[]; };
layout(set = 0, binding = BINDING_coordinates, std430) buffer coordinatesBuffer { uint coordinates[]; };

shared uint sharedCount[256];

const uint kPerLane = 8u;

bool isNonzero(uint index) {
  const uint at = walkOffsets(0u, push.rank, index).x;
#if T_BITS == 32
  const uint bits = x[at];
#else
  const uint bits = x[at / (32u / T_BITS)] >> (at % (32u / T_BITS) * T_BITS);
#endif
  return (bits & push.mask) != 0u;
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
  uint running = WRITES != 0u ? counts[group] : 0u;
  for (uint tile = begin; tile < end; tile += gl_WorkGroupSize.x * kPerLane) {
    const uint first = tile + lane * kPerLane;
    uint found = 0u;
    for (uint j = 0u; j < kPerLane; ++j)
      if (first + j < end && isNonzero(first + j)) found |= 1u << j;
    uint total = uint(bitCount(found));
    sharedCount[lane] = total;
    for (uint distance1 = 1u; distance1 < gl_WorkGroupSize.x; distance1 *= 2u) {
      barrier();
      if (lane >= distance1) total += sharedCount[lane - distance1];
      barrier();
      sharedCount[lane] = total;
    }
    barrier();
    uint row = running + (lane > 0u ? sharedCount[lane - 1u] : 0u);
    running += sharedCount[gl_WorkGroupSize.x - 1u];
    barrier();
    if (WRITES != 0u) {
      for (uint j = 0u; j < kPerLane; ++j) {
        if ((found >> j & 1u) != 0u) {
          writeCoordinates(row, first + j);
          ++row;
        }
      }
    }
  }
  if (lane != 0u) return;
  if (WRITES == 0u) {
    counts[group] = running;
  } else if (end == push.elements) {
    count[0] = running;
  }
}
