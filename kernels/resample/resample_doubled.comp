#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what resample_nearest.comp does, or with LINEAR resample_linear.comp along one or two axes, for an output whose
// lines lie in vectors of 16 bytes and are the input's at twice the scale: the same vector of some planes an
// invocation. The first dimension is that of vectors of a line, and the first axis that of its elements; other strides
// of the output are in vectors.
//   planes, inputStep, outputStep   how many, and from one to the next
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

// An infinity beside the place counts for nothing. `blends`: no place is that of an element.
float between(float lower, float upper, float fraction, bool blends) {
  const float blend = (1.0 - fraction) * lower + fraction * upper;
  return blends ? blend : mix(blend, lower, fraction == 0.0);
}

// Element `i` of a vector, whose places are those of the first or the second element and a whole number. `first` is
// where the columns begin.
float averageAt(uint i, float columns[kColumns], Place place, int first, bool blends) {
  const uint column = i / 2u;
  const bool next = place.index != first;
  return between(next ? columns[column + 1u] : columns[column], next ? columns[column + 2u] : columns[column + 1u],
                 place.fraction, blends);
}

// Of nearest elements: how many columns later the even and the odd elements of a vector begin.
uvec4 nearestOf(uint from, uint places[kColumns], ivec2 skipped) {
  uint columns[kColumns];
  [[unroll]] for (uint i = 0u; i < kColumns; ++i) columns[i] = loadRaw_x(from + places[i]);
  uvec4 result = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
    const uint column = i / 2u;
    const int later = skipped[i % 2u];
    const uint bits = later == 0 ? columns[column] : later == 1 ? columns[column + 1u] : columns[column + 2u];
    result[i / PACKED_LANES] |= LANE_BITS(bits, i % PACKED_LANES);
  }
  return result;
}

uvec4 averagesOf(Lines lines, uint places[kColumns], Place even, Place odd, bool blends) {
  float columns[kColumns];
  [[unroll]] for (uint i = 0u; i < kColumns; ++i) {
    const uvec2 at = lines.offset + places[i];
    columns[i] = float(fromRaw(loadRaw_x(at.x)));
    if (AXES > 1u) columns[i] = between(columns[i], float(fromRaw(loadRaw_x(at.y))), lines.fraction, blends);
  }
  uvec4 result = uvec4(0u);
#if T_IS_FLOAT
  vec4 fours[kFours];
#endif
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
    const float average = averageAt(i, columns, i % 2u == 0u ? even : odd, even.index, blends);
#if T_IS_FLOAT
    fours[i / 4u][i % 4u] = average;
#else
    result[i / PACKED_LANES] |= LANE_BITS(averageToRaw(average), i % PACKED_LANES);
#endif
  }
#if T_IS_FLOAT
  result = VECTOR_OF(fours, 0u);
#endif
  return result;
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, KNOWN(RANK, push.rank), from, to, coordinates);
  Lines lines = linesOf(from, coordinates);
  const uint size = parameters[push.axisAt + 1u].w;
  const uint stride = parameters[push.axisAt + 2u].x;
  const uint element = coordinates.x * kVectorElements;
  const Place even = placeOf(push.axisAt, element);
  const Place odd = placeOf(push.axisAt, element + 1u);
  uint places[kColumns];
  [[unroll]] for (uint i = 0u; i < kColumns; ++i) places[i] = clampedIndex(even.index + int(i), size) * stride;
  const bool up = push.roundUp != 0u;
  const ivec2 skipped =
      ivec2(up && even.fraction > 0.0 ? 1 : 0, odd.index - even.index + (up && odd.fraction > 0.0 ? 1 : 0));

  const bool blends = even.fraction != 0.0 && odd.fraction != 0.0 && (AXES == 1u || lines.fraction != 0.0);
  for (uint plane = 0u; plane < push.planes; ++plane) {
    if (LINEAR == 0u)
      y[to] = nearestOf(lines.offset.x, places, skipped);
    else if (blends)
      y[to] = averagesOf(lines, places, even, odd, true);
    else
      y[to] = averagesOf(lines, places, even, odd, false);
    lines.offset += push.inputStep;
    to += push.outputStep;
  }
}
