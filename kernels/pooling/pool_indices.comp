#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Maxima under small windows and where they are, of tensors whose lines lie in vectors (pooling/lines.glsl).
//   writesValue   0: only indices are wanted, and 2^32 - 1 where there is none
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#define ONLY_MAXIMA
#include "pooling/vectors.glsl"

layout(set = 0, binding = BINDING_indices, std430) buffer indicesBuffer { uvec4 indices[]; };

#include "pooling/lines.glsl"

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const Place place = placeOf(item);
  const uvec4 source = parameters[10];
  const uint start = place.first * kElements;  // of column 1
  int best[kElements];
  uint where[kElements];
  [[unroll]] for (uint v = 0u; v < kElements; ++v) {
    best[v] = kNothing;
    where[v] = push.writesValue != 0u ? 0u : 0xffffffffu;
  }
  [[unroll]] for (uint k = 0u; k < kMost; ++k) {
    if (k >= HEIGHT || place.firstLine + k >= source.y) continue;
    const Segment segment = segmentOf(place, k);
    int columns[kColumns + 1u];
    [[unroll]] for (uint c = 0u; c <= kColumns; ++c)
      columns[c] = start + c - 1u < source.x ? columnOf(segment, c) : kNothing;
    const uint index = place.at.w + (place.firstLine + k) * source.x + start - PADDED;
    [[unroll]] for (uint v = 0u; v < kElements; ++v)
      [[unroll]] for (uint c = 0u; c < kMost; ++c) {
        if (c >= WIDTH) continue;
        const uint column = v * STEP + c;
        const int key = PADDED != 0u ? columns[column] : columns[column + 1u];
        // The first of equal elements.
        const bool isGreater = key > best[v];
        best[v] = isGreater ? key : best[v];
        where[v] = isGreater ? index + column : where[v];
      }
  }
  if (push.writesValue != 0u) {
    uvec4 result = uvec4(0u);
    [[unroll]] for (uint v = 0u; v < kElements; ++v)
      result[v / PACKED_LANES] |= LANE_BITS(bitsOfKey(best[v]), v % PACKED_LANES);
    y[place.at.y] = result;
  }
  [[unroll]] for (uint v = 0u; v < kElements; v += 4u)
    indices[place.at.z + v / 4u] = uvec4(where[v], where[v + 1u], where[v + 2u], where[v + 3u]);
}
