#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Copies the nearest input element. Places below a whole number count as that, with `roundUp`.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "resample/place.glsl"
#include "resample/coordinates.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, push.rank, from, to, coordinates);
  for (uint a = 0u; a < AXES; ++a) {
    const uint axis = push.axisAt + 3u * a;
    const uvec4 c = parameters[axis + 2u];
    from += nearestIndex(placeOf(axis, coordinates[a]), push.roundUp != 0u, parameters[axis + 1u].w) * c.x;
  }
  storeRaw_y(to, loadRaw_x(from));
}
