#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What resample_nearest.comp does, or with LINEAR resample_linear.comp along one or two axes, of an output whose lines
// lie in vectors of 16 bytes and are the input's at twice the scale: a vector an invocation. The first dimension is
// that of vectors of a line, and the first axis that of its elements; other strides of the output are in vectors.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "resample/coordinates.glsl"
#include "resample/element.glsl"
#include "resample/place.glsl"
#if T_IS_FLOAT
#include "common/fours.glsl"
#else
const uint kVectorElements = 128u / T_BITS;
#endif

TENSOR_IN(x)
PACKED_OUT(y)

// Elements of a line of the input between which, or at which, a vector of the output lies.
const uint kColumns = kVectorElements / 2u + 2u;

// Offsets of the two lines, and the weight of the second.
struct Lines {
  uvec2 offset;
  float fraction;
};

Lines linesOf(uint from, uvec4 coordinates) {
  Lines lines = Lines(uvec2(from), 0.0);
  for (uint a = 1u; a < AXES; ++a) {
    const uint axis = push.axisAt + 3u * a;
    const uint size = parameters[axis + 1u].w;
    const uint stride = parameters[axis + 2u].x;
    const Place place = placeOf(axis, coordinates[a]);
    if (LINEAR == 0u) {
      lines.offset += nearestIndex(place, push.roundUp != 0u, size) * stride;
    } else {
      lines.offset += uvec2(clampedIndex(place.index, size), clampedIndex(place.index + 1, size)) * stride;
      lines.fraction = place.fraction;
    }
  }
  return lines;
}

// Element `i` of a vector, whose places are those of the first or the second element and a whole number. `first` is
// where the columns begin; each holds the elements of two lines.
float averageAt(uint i, vec2 columns[kColumns], Place place, int first, float across) {
  const uint column = i / 2u;
  const bool next = place.index != first;
  const vec2 low = next ? columns[column + 1u] : columns[column];
  const vec2 high = next ? columns[column + 2u] : columns[column + 1u];
  const vec2 along = vec2(1.0 - place.fraction, place.fraction);
  const vec2 weights0 = along * (1.0 - across);
  const vec2 weights1 = along * across;
  // An infinity beside the place counts for nothing.
  float sum = 0.0;
  if (weights0.x != 0.0) sum += weights0.x * low.x;
  if (weights0.y != 0.0) sum += weights0.y * high.x;
  if (weights1.x != 0.0) sum += weights1.x * low.y;
  if (weights1.y != 0.0) sum += weights1.y * high.y;
  return sum;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  const Lines lines = linesOf(from, coordinates);
  const uint size = parameters[push.axisAt + 1u].w;
  const uint stride = parameters[push.axisAt + 2u].x;
  const uint element = coordinates.x * kVectorElements;
  const Place even = placeOf(push.axisAt, element);
  const Place odd = placeOf(push.axisAt, element + 1u);

  uvec4 result = uvec4(0u);
  if (LINEAR == 0u) {
    uint columns[kColumns];
    [[unroll]] for (uint i = 0u; i < kColumns; ++i) columns[i] =
        loadRaw_x(lines.offset.x + clampedIndex(even.index + int(i), size) * stride);
    const bool up = push.roundUp != 0u;
    const int skipped0 = up && even.fraction > 0.0 ? 1 : 0;
    const int skipped1 = odd.index - even.index + (up && odd.fraction > 0.0 ? 1 : 0);
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
      const uint column = i / 2u;
      const int skipped = i % 2u == 0u ? skipped0 : skipped1;
      const uint bits = skipped == 0 ? columns[column] : skipped == 1 ? columns[column + 1u] : columns[column + 2u];
      result[i / PACKED_LANES] |= LANE_BITS(bits, i % PACKED_LANES);
    }
  } else {
    vec2 columns[kColumns];
    [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
      const uvec2 at = lines.offset + clampedIndex(even.index + int(i), size) * stride;
      columns[i].x = float(fromRaw(loadRaw_x(at.x)));
      columns[i].y = AXES > 1u ? float(fromRaw(loadRaw_x(at.y))) : 0.0;
    }
#if T_IS_FLOAT
    vec4 fours[kFours];
#endif
    [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
      const float average = averageAt(i, columns, i % 2u == 0u ? even : odd, even.index, lines.fraction);
#if T_IS_FLOAT
      fours[i / 4u][i % 4u] = average;
#else
      result[i / PACKED_LANES] |= LANE_BITS(averageToRaw(average), i % PACKED_LANES);
#endif
    }
#if T_IS_FLOAT
    result = VECTOR_OF(fours, 0u);
#endif
  }
  y[to] = result;
}
