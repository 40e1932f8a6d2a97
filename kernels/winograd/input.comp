#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Transforms what tiles of the output need of the input (winograd.glsl); one invocation per channel of a tile.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "winograd/winograd.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_transformed, std430) writeonly buffer transformedBuffer { float transformed[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint channel = divideBy(item, parameters[kColumns]);
  const uint column1 = item - channel * parameters[kColumns].x;
  const uvec3 at = tileAt(column1);
  const bool exists = column1 < parameters[kCounts].z && channel < parameters[kCounts].x;
  const uvec4 strides = parameters[kInput];
  const uvec4 size = parameters[kInputSize];
  const uint image = at.x * strides.x + channel * strides.y;
  float tile[kPoints];
  float line[kPlaces];
  [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
    // Rows and columns before the first one wrap to large numbers.
    const uint y = at.y + row - size.z;
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
      const uint x1 = at.z + column - size.w;
      // Elements outside are loaded from others and then made zeros: loads without conditions overlap.
      const bool inside = exists && y < size.x && x1 < size.y;
      const float value = fromRaw(loadRaw_x(inside ? image + y * strides.z + x1 * strides.w : 0u));
      line[column] = inside ? value : 0.0;
    }
    transformInput(line);
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) tile[row * kPlaces + column] = line[column];
  }
  [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row) line[row] = tile[row * kPlaces + column];
    transformInput(line);
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row)
      transformed[(row * kPlaces + column) * push.count + item] = line[row];
  }
}
