#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The weights of an axis, whose parameters are at parameters[0]: of each of `count` output coordinates `pitch` words,
//   {first input element, how many, their weights as FLOAT32}
#include "common/grid.glsl"
#include "resample/place.glsl"
#include "resample/weights.glsl"

layout(set = 0, binding = BINDING_weights, std430) buffer weightsBuffer { uint weights[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const Axis axis = axisOf(0u, item);
  const uint at = push.first + item * push.pitch;
  weights[at] = axis.first;
  weights[at + 1u] = axis.count;
  for (uint k = 0u; k < axis.count; ++k) weights[at + 2u + k] = floatBitsToUint(weightOf(axis, axis.first + k));
}
