#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Stores new keys or values behind those that a tensor holds already, as many as `lengths` says, but within it.
// Walk operands: new element, its bias, element of the tensor at position 0, length.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
TENSOR_IN(bias)
layout(set = 0, binding = BINDING_lengths, std430) readonly buffer lengthsBuffer { uint lengths[]; };
TENSOR_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uint start = uint(clamp(int(lengths[at.w]), 0, int(push.lastStart)));
  const float value = fromRaw(loadRaw_x(at.x));
  storeRaw_y(at.z + start * push.stride,
             push.hasBias != 0u ? toRaw(value + fromRaw(loadRaw_bias(at.y))) : loadRaw_x(at.x));
}
