#version 460
#extension GL_GOOGLE_include_directive : require

// Writes the first words of the parameter block: a part of a graph's constant.
#include "common/grid.glsl"

layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };

void main() {
  uint item;
  if (!gridItem(push.words, item)) return;
  y[item] = parameters[item / 4u][item & 3u];
}
