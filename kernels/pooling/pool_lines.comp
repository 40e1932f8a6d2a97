#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what pool.comp does under small windows, for tensors whose lines lie in vectors (pooling/lines.glsl). Columns
// are combined first.
//   power, repeats, divisor   as there
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "pooling/vectors.glsl"

#include "pooling/lines.glsl"

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const Place place = placeOf(item);
  const uvec4 source = parameters[10];
  Segment segments[kMost];
  [[unroll]] for (uint k = 0u; k < kMost; ++k) {
    if (k >= HEIGHT) break;
    segments[k] = segmentOf(place, k);
  }
  int columns[kColumns + 1u];
  [[unroll]] for (uint c = 0u; c <= kColumns; ++c) columns[c] = emptyResult();
  uint lines = 0u;
  [[unroll]] for (uint k = 0u; k < kMost; ++k) {
    if (k >= HEIGHT || place.firstLine + k >= source.y) continue;
    ++lines;
    [[unroll]] for (uint c = 0u; c <= kColumns; ++c) columns[c] = combine(columns[c], columnOf(segments[k], c));
  }
  const uint start = place.first * kElements;  // of column 1
  [[unroll]] for (uint c = 0u; c <= kColumns; ++c) if (start + c - 1u >= source.x) columns[c] = emptyResult();

  VECTOR result = VECTOR(0u);
#if T_IS_FLOAT
  vec4 fours[kFours];
#endif
  [[unroll]] for (uint v = 0u; v < kElements; ++v) {
    const uint low = 1u + v * STEP;
    int a = emptyResult();
    [[unroll]] for (uint k = 0u; k < kMost; ++k) if (k < WIDTH) a =
        combine(a, PADDED != 0u ? columns[low + k - 1u] : columns[low + k]);
    if (HAS_KEYS) result[v / PACKED_LANES] |= LANE_BITS(bitsOfKey(a), v % PACKED_LANES);
#if T_IS_FLOAT
    const int begin = int(start + v * STEP) - int(PADDED);
    const int across = min(begin + int(WIDTH), int(source.x)) - max(begin, 0);
    fours[v / 4u][v % 4u] = finishFloat(a, uint(max(across, 0)) * lines);
#endif
  }
#if T_IS_FLOAT
#ifdef HALF
  if (!HAS_KEYS) result = halvesFromFloats(fours[0]);
#else
  if (!HAS_KEYS) result = VECTOR_OF(fours, 0u);
#endif
#endif
  y[place.at.y] = result;
}
