#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What resample_linear.comp does along lines, the first axis, and at most one more axis, of an output whose lines lie in
// vectors of 16 bytes, in which the parameters count them.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "common/fours.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"

TENSOR_IN(x)
PACKED_OUT(y)

// The neighbours of a place, as offsets of the input, and how near the upper one is.
struct Neighbours {
  uint lower;
  uint upper;
  float fraction;
};

Neighbours neighboursOf(uint axis, uint coordinate) {
  const uint size = parameters[axis + 1u].w;
  const uint stride = parameters[axis + 2u].x;
  const Place place = placeOf(axis, coordinate);
  return Neighbours(clampedIndex(place.index, size) * stride, clampedIndex(place.index + 1, size) * stride,
                    place.fraction);
}

// An infinity beside the place counts for nothing.
float between(float lower, float upper, float fraction) {
  return fraction == 0.0 ? lower : (1.0 - fraction) * lower + fraction * upper;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  Neighbours lines = Neighbours(0u, 0u, 0.0);
  if (AXES == 2u) lines = neighboursOf(push.axisAt + 3u, coordinates.y);
  vec4 fours[kFours];
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
    const Neighbours places = neighboursOf(push.axisAt, coordinates.x * kVectorElements + i);
    const uint first = from + lines.lower;
    float v = between(fromRaw(loadRaw_x(first + places.lower)), fromRaw(loadRaw_x(first + places.upper)), places.fraction);
    if (AXES == 2u) {
      const uint second = from + lines.upper;
      const float other =
          between(fromRaw(loadRaw_x(second + places.lower)), fromRaw(loadRaw_x(second + places.upper)), places.fraction);
      v = between(v, other, lines.fraction);
    }
    fours[i / 4u][i % 4u] = v;
  }
  y[to] = VECTOR_OF(fours, 0u);
}
