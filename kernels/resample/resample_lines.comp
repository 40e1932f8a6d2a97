#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What resample_linear.comp does along lines, the first axis, and at most one more axis, of an output whose lines lie in
// vectors of 16 bytes, in which the parameters count them: the same vector of some planes an invocation.
//   planes, inputStep, outputStep   how many, at most kMostPlanes, and from one to the next
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"
#include "resample/element.glsl"

const uint kMostPlanes = 4u;

// A vector of the output while its elements are put into it.
#if T_IS_FLOAT
#include "common/fours.glsl"
struct Result {
  vec4 fours[kFours];
};
void putAverage(inout Result result, uint i, float average) { result.fours[i / 4u][i % 4u] = average; }
#define VECTOR_OF_RESULT(result) VECTOR_OF(result.fours, 0u)
#else
#define Result uvec4
const uint kVectorElements = 128u / T_BITS;
void putAverage(inout uvec4 result, uint i, float average) {
  const uint bits = LANE_BITS(averageToRaw(average), i % PACKED_LANES);
  result[i / PACKED_LANES] = i % PACKED_LANES == 0u ? bits : result[i / PACKED_LANES] | bits;
}
#define VECTOR_OF_RESULT(result) result
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
  return fraction == 0.0 ? lower : (1.0 - fraction) * lower + fraction * upper;
}

float elementAt(uint at) { return float(fromRaw(loadRaw_x(at))); }

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  Neighbours lines = Neighbours(0u, 0u, 0.0);
  if (AXES == 2u) lines = neighboursOf(push.axisAt + 3u, coordinates.y);
  Result results[kMostPlanes];
  [[unroll]] for (uint i = 0u; i < kVectorElements; ++i) {
    const Neighbours places = neighboursOf(push.axisAt, coordinates.x * kVectorElements + i);
    [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p) {
      if (p >= push.planes) break;
      const uint first = from + p * push.inputStep + lines.lower;
      float v = between(elementAt(first + places.lower), elementAt(first + places.upper), places.fraction);
      if (AXES == 2u) {
        const uint second = from + p * push.inputStep + lines.upper;
        const float other =
            between(elementAt(second + places.lower), elementAt(second + places.upper), places.fraction);
        v = between(v, other, lines.fraction);
      }
      putAverage(results[p], i, v);
    }
  }
  [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p)
    if (p < push.planes) y[to + p * push.outputStep] = VECTOR_OF_RESULT(results[p]);
}
