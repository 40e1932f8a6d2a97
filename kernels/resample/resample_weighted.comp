#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Does what resample_sum.comp does along one axis or two, with the weights that resample_table.comp made.
//   pitch0, pitch1, first1     words of a coordinate's weights on each axis, and where those of the second axis begin
//   inputStep0, inputStep1     strides of the axes in the input
//   inputPlane, outputPlane    steps between the PLANES elements of an invocation
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "resample/coordinates.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_weights, std430) readonly buffer weightsBuffer { uint weights[]; };
TENSOR_OUT(y)

const uint kMostPlanes = 8u;

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  uint from, to;
  uvec4 coordinates;
  coordinatesOf(item, KNOWN(RANK, push.rank), from, to, coordinates);
  const uint inner = coordinates.x * push.pitch0;
  const uint outer = push.first1 + coordinates.y * push.pitch1;
  const uint count = weights[inner + 1u];
  from += weights[inner] * push.inputStep0;
  uint lines = 1u;
  if (AXES == 2u) {
    lines = weights[outer + 1u];
    from += weights[outer] * push.inputStep1;
  }
  float sums[kMostPlanes];
  [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p) sums[p] = 0.0;
  for (uint j = 0u; j < lines; ++j) {
    const float weight = AXES == 2u ? uintBitsToFloat(weights[outer + 2u + j]) : 1.0;
    if (weight == 0.0) continue;
    float line[kMostPlanes];
    [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p) line[p] = 0.0;
    for (uint i = 0u; i < count; ++i) {
      const float part = uintBitsToFloat(weights[inner + 2u + i]);
      const uint at = from + j * push.inputStep1 + i * push.inputStep0;
      // What counts for nothing may be infinite.
      if (part == 0.0) continue;
      [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p)
        if (p < PLANES) line[p] += part * fromRaw(loadRaw_x(at + p * push.inputPlane));
    }
    [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p) sums[p] += weight * line[p];
  }
  [[unroll]] for (uint p = 0u; p < kMostPlanes; ++p)
    if (p < PLANES) storeRaw_y(to + p * push.outputPlane, toRaw(sums[p]));
}
