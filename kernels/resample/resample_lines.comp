#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what resample_linear.comp does along lines, the first axis, and at most one more axis, for an output whose lines
// lie in vectors of 16 bytes, in which the parameters count them.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/turns.glsl"
#include "common/walk.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"
#include "resample/element.glsl"
#if T_IS_FLOAT
#include "common/fours.glsl"
#else
const uint kVectorElements = 128u / T_BITS;
#endif

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
  return mix((1.0 - fraction) * lower + fraction * upper, lower, fraction == 0.0);
}

float elementAt(uint at) { return float(fromRaw(loadRaw_x(at))); }

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, KNOWN(RANK, push.rank), from, to, coordinates);
  Neighbours lines = Neighbours(0u, 0u, 0.0);
  if (AXES == 2u) lines = neighboursOf(push.axisAt + 3u, coordinates.y);
#if T_IS_FLOAT
  vec4 fours[kFours];
#else
  uvec4 result = uvec4(0u);
#endif
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
    const Neighbours places = neighboursOf(push.axisAt, coordinates.x * kVectorElements + i);
    const uint first = from + lines.lower;
    float v = between(elementAt(first + places.lower), elementAt(first + places.upper), places.fraction);
    if (AXES == 2u) {
      const uint second = from + lines.upper;
      const float other =
          between(elementAt(second + places.lower), elementAt(second + places.upper), places.fraction);
      v = between(v, other, lines.fraction);
    }
#if T_IS_FLOAT
    fours[i / 4u][i % 4u] = v;
#else
    result[i / PACKED_LANES] |= LANE_BITS(averageToRaw(v), i % PACKED_LANES);
#endif
  }
#if T_IS_FLOAT
  y[SUMMED_INDEX(to)] = VECTOR_OF(fours, 0u);
#else
  y[SUMMED_INDEX(to)] = result;
#endif
}
