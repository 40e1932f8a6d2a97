#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Rows of vectors (row_places.glsl), of which an invocation selects elements for one, so that neighbours store side by
// side. uniformMask: bit k set where operand k (condition, a, b) is one element that every position of them reads.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "elementwise/row_places.glsl"

layout(set = 0, binding = BINDING_condition, std430) readonly buffer conditionBuffer { uint condition[]; };
PACKED_IN(a)
PACKED_IN(b)
PACKED_OUT(y)

const uint kElements = 128u / T_BITS;

void main() {
  uint item;
  if (!gridItem(push.count / kElements, item)) return;
  const uvec4 at = ROW_VECTORS(item);
  const uvec4 v = ROW_OPERAND(a, 1u, at.y);
  const uvec4 w = ROW_OPERAND(b, 2u, at.z);
  // Four in a word.
  uint conditions[kElements / 4u];
  const uint mask = STANDING_MASK(0u);
  const uint place = at.x & mask;
  const uint one = (condition[place / 4u] >> (place % 4u * 8u) & 0xffu) * 0x01010101u;
  [[unroll]] for (uint i = 0u; i < kElements / 4u; ++i)
    conditions[i] = one & mask | condition[(at.x & ~mask) * (kElements / 4u) + i] & ~mask;
  uvec4 chosen = uvec4(0u);
  [[unroll]] for (uint e = 0u; e < kElements; ++e) {
    const bool isChosen = (conditions[e / 4u] >> (e % 4u * 8u) & 0xffu) != 0u;
    chosen[e / PACKED_LANES] |= isChosen ? LANE_BITS(T_MASK, e % PACKED_LANES) : 0u;
  }
  y[at.w] = v & chosen | w & ~chosen;
}
