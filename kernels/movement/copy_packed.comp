#version 460
#extension GL_GOOGLE_include_directive : require

// bytes: what to copy; the bytes of the last word past it keep their value.
#include "common/grid.glsl"

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uvec4 x[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uvec4 y[]; };

void main() {
  uint item;
  // The byte count may be up to 2^32 - 1, so the round-up must not overflow.
  if (!gridItem(push.bytes / 16u + min(push.bytes % 16u, 1u), item)) return;
  const uint words = push.bytes / 4u;
  if (item * 4u + 4u <= words) {
    y[item] = x[item];
    return;
  }
  for (uint word = item * 4u; word < words; ++word) y[item][word & 3u] = x[item][word & 3u];
  const uint mask = (1u << (push.bytes % 4u * 8u)) - 1u;
  if (mask != 0u) {
    const uint component = words & 3u;
    y[item][component] = (y[item][component] & ~mask) | (x[item][component] & mask);
  }
}
