#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Transforms sums back (winograd.glsl), y = activation(sum + bias + addend); an invocation a tile of a filter's output.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "winograd/winograd.glsl"

layout(set = 0, binding = BINDING_sums, std430) readonly buffer sumsBuffer { uint sums[]; };
TENSOR_IN(x)
TENSOR_IN(w)
TENSOR_IN(bias)
TENSOR_IN(addend)
TENSOR_OUT(y)
#include "winograd/results.glsl"

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint f = divideBy(item, parameters[kColumns]);
  const uint column1 = item - f * parameters[kColumns].x;
  if (f >= parameters[kCounts].y || column1 >= parameters[kCounts].z) return;

  float line[kPlaces];
  uint largest = 0u;
  [[unroll]] for (uint column = 0u; column < kPlaces; ++column) {
    [[unroll]] for (uint row = 0u; row < kPlaces; ++row) {
      const uint bits = sums[(row * kPlaces + column) * push.count + item];
      largest = max(largest, bits & 0x7fffffffu);
      line[row] = uintBitsToFloat(bits);
    }
    takeColumn(column, line);
  }
  finishTile(f, tileAt(column1), largest);
}
