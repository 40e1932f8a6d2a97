#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

#include "common/grid.glsl"
#include "common/walk.glsl"

layout(set = 0, binding = BINDING_condition, std430) readonly buffer conditionBuffer { uint condition[]; };
TENSOR_IN(a)
TENSOR_IN(b)
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const bool chosen = (condition[at.x / 4u] >> (at.x % 4u * 8u) & 0xffu) != 0u;
  storeRaw_y(at.w, chosen ? loadRaw_a(at.y) : loadRaw_b(at.z));
}
