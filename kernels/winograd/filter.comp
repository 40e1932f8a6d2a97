#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Transforms filters (winograd.glsl); one invocation per channel of a filter.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "winograd/winograd.glsl"

TENSOR_IN(w)
layout(set = 0, binding = BINDING_transformed, std430) writeonly buffer transformedBuffer { float transformed[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint channel = divideBy(item, parameters[kFilters]);
  const uint f = item - channel * parameters[kFilters].x;
  const uvec4 strides = parameters[kFilter];
  const uint first = parameters[kOutputSize].w + f * strides.x + channel * strides.y;
  const bool exists = f < parameters[kCounts].y && channel < parameters[kCounts].x;
  float tile[3u * kPlaces];
  float line[kPlaces];
  [[unroll]] for (uint row = 0u; row < 3u; ++row) {
    [[unroll]] for (uint column = 0u; column < 3u; ++column) {
      const float value = fromRaw(loadRaw_w(exists ? first + row * strides.z + column * strides.w : 0u));
      line[column] = exists ? value : 0.0;
    }
    transformFilter(line);
    [[unroll]] for (uint column = 0u; column < kPlaces; ++column) tile[row * kPlaces + column] = line[column];
  }
  [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
    [[unroll]] for (uint row = 0u; row < 3u; ++row) line[row] = tile[row * kPlaces + column];
    transformFilter(line);
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row)
      transformed[(row * kPlaces + column) * push.count + item] = line[row];
  }
}
