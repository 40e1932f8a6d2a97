#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The average of the two neighbours on each axis, weighted by their nearness.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"
#include "resample/element.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  uvec4 lower = uvec4(0u);
  uvec4 upper = uvec4(0u);
  vec4 fractions = vec4(0.0);
  for (uint a = 0u; a < AXES; ++a) {
    const uint axis = push.axisAt + 3u * a;
    const uint size = parameters[axis + 1u].w;
    const uint stride = parameters[axis + 2u].x;
    const Place place = placeOf(axis, coordinates[a]);
    lower[a] = clampedIndex(place.index, size) * stride;
    upper[a] = clampedIndex(place.index + 1, size) * stride;
    fractions[a] = place.fraction;
  }
  float sum = 0.0;
  for (uint corner = 0u; corner < (1u << AXES); ++corner) {
    uint offset = from;
    float weight = 1.0;
    for (uint a = 0u; a < AXES; ++a) {
      const bool isUpper = ((corner >> a) & 1u) != 0u;
      offset += isUpper ? upper[a] : lower[a];
      weight *= isUpper ? fractions[a] : 1.0 - fractions[a];
    }
    // An infinity beside the place counts for nothing.
    if (weight != 0.0) sum += weight * float(fromRaw(loadRaw_x(offset)));
  }
  storeRaw_y(to, averageToRaw(sum));
}
