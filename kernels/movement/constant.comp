#version 460
#extension GL_GOOGLE_include_directive : require

// Writes the first words of the parameter block: a part of a graph's constant.
#define PUSH_FIELDS uint words;
#include "common/grid.glsl"

layout(set = 0, binding = 0, std430) buffer yBuffer { uint y[]; };

void main() {
  uint item;
  if (!gridItem(push.words, item)) return;
  y[item] = parameters[item / 4u][item & 3u];
}
