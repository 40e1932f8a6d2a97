#version 460
#extension GL_GOOGLE_include_directive : require

// bytes: what to fill with the repeated 64-bit pattern {low, high}; the bytes of the last word past it keep their
// value.
#include "common/grid.glsl"

layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uvec4 y[]; };

void main() {
  uint item;
  if (!gridItem(push.bytes / 16u + min(push.bytes % 16u, 1u), item)) return;
  const uint words = push.bytes / 4u;
  const uvec4 pattern = uvec4(push.low, push.high, push.low, push.high);
  if (item * 4u + 4u <= words) {
    y[item] = pattern;
    return;
  }
  for (uint word = item * 4u; word < words; ++word) y[item][word & 3u] = pattern[word & 3u];
  const uint mask = (1u << (push.bytes % 4u * 8u)) - 1u;
  if (mask != 0u) {
    const uint component = words & 3u;
    y[item][component] = (y[item][component] & ~mask) | (pattern[component] & mask);
  }
}
