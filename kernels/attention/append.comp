#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Stores new keys or values behind those that a tensor holds already, as many as `lengths` says, but within it; or both
// in their two tensors, which lie alike.
// Walk operands: new element, its bias or the value beside the key, element of the tensor at position 0, length.
#include "common/grid.glsl"
#include "common/walk.glsl"

// Values of `takes`, other than 0.
const uint kTakesBias = 1u;
const uint kTakesValues = 2u;

TENSOR_IN(x)
TENSOR_IN(other)
layout(set = 0, binding = BINDING_lengths, std430) readonly buffer lengthsBuffer { uint lengths[]; };
TENSOR_OUT(y)
TENSOR_OUT(otherY)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uint start = uint(clamp(int(lengths[at.w]), 0, int(push.lastStart)));
  const uint to = at.z + start * push.stride;
  const float value = fromRaw(loadRaw_x(at.x));
  storeRaw_y(to, push.takes == kTakesBias ? toRaw(value + fromRaw(loadRaw_other(at.y))) : loadRaw_x(at.x));
  if (push.takes == kTakesValues) storeRaw_otherY(to, loadRaw_other(at.y));
}
