#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/whole_vectors.glsl"
#include "directml_enums.glsl"

// What surrounds the input is a constant {low, high} or elements of the input itself. The parameters are three per
// dimension, the innermost first:
//   {output size and its divisor}   {output stride, input stride, start padding, input size}   {period and its divisor}
// Start paddings are signed; what repeats does so after a period.
#include "common/grid.glsl"
#include "common/turns.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
#ifdef RUNS
#include "common/packed.glsl"
#include "common/runs.glsl"

PACKED_OUT(y)
#else
TENSOR_OUT(y)
#endif

// The input coordinate that an output coordinate shows; false if it shows the constant.
bool sourceOf(uint coordinate, uvec4 dimension, uvec4 period, out uint source) {
  const uint start = dimension.z;
  const uint size = dimension.w;
  const bool before = int(start) > 0 && coordinate < start;
  // The distance is from the input's first element, backwards if `before` is set.
  uint distance = before ? start - coordinate : coordinate - start;
  if (MODE == DML_PADDING_MODE_CONSTANT) {
    source = distance;
    return !before && distance < size;
  }
  if (MODE == DML_PADDING_MODE_EDGE) {
    source = before ? 0u : min(distance, size - 1u);
    return true;
  }
  if (MODE == DML_PADDING_MODE_SYMMETRIC && before) --distance;
  distance -= divideBy(distance, period) * period.x;
  if (MODE == DML_PADDING_MODE_WRAP) {
    source = before && distance != 0u ? size - distance : distance;
    return true;
  }
  // The way back from the last element, which SYMMETRIC shows twice.
  const uint back = 2u * size - (MODE == DML_PADDING_MODE_SYMMETRIC ? 1u : 2u) - distance;
  source = distance < size ? distance : back;
  return true;
}

// Where elements come from, and whether all coordinates show some of the input's; offset of the output.
struct Place {
  uint from;
  uint to;
  bool inside;
};

void addDimension(inout Place place, uint d, uint coordinate) {
  const uvec4 dimension = parameters[3u * d + 1u];
  uint source;
  place.inside = sourceOf(coordinate, dimension, parameters[3u * d + 2u], source) && place.inside;
  place.to += coordinate * dimension.x;
  place.from += source * dimension.y;
}

// Returns the place of position `index` in the dimensions from `d` on.
Place placeOf(uint d, uint index) {
  Place place = Place(0u, 0u, true);
  uint rest = index;
  const uint rank = KNOWN(RANK, push.rank);
  for (; d < rank; ++d) {
    const uvec4 size = parameters[3u * d];
    const uint quotient = d + 1u < rank ? divideBy(rest, size) : 0u;
    addDimension(place, d, rest - quotient * size.x);
    rest = quotient;
  }
  return place;
}

RAW elementAt(Place place) {
#ifdef VECTORS
  RAW value = uvec4(push.low, push.high, push.low, push.high);
#elif T_BITS == 64
  RAW value = uvec2(push.low, push.high);
#else
  RAW value = push.low;
#endif
#ifdef VECTORS
  if (place.inside) value = loadRaw_x(SUMMED_INDEX(place.from));
#else
  if (place.inside) value = loadRaw_x(place.from);
#endif
  return value;
}

#ifdef RUNS
// Lines are at least as long as runs, which so lie in two at most.
void main() {
  uint item;
  if (!gridItem(push.count / kRun, item)) return;
  const uint size = parameters[0].x;
  const uint line = divideBy(item * kRun, parameters[0]);
  const uint first = item * kRun - line * size;
  const Place begin = placeOf(1u, line);
  Place next = begin;
  if (first + kRun > size) next = placeOf(1u, line + 1u);
  uvec4 vector = uvec4(0u);
  [[unroll]] for (uint i = 0u; i < kRun; ++i) {
    const bool isNext = first + i >= size;
    Place place = isNext ? next : begin;
    addDimension(place, 0u, isNext ? first + i - size : first + i);
    putElement(vector, i, elementAt(place));
  }
  y[item] = vector;
}
#else
void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const Place place = placeOf(0u, item);
  storeRaw_y(SUMMED_INDEX(place.to), elementAt(place));
}
#endif
