#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The state before the first step: a tensor's elements in row-major order, or 0 without one.
#include "common/grid.glsl"
#include "common/walk.glsl"

TENSOR_IN(x)
layout(set = 0, binding = BINDING_state, std430) buffer stateBuffer { float state[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  float value = 0.0;
  if (push.present != 0u) value = fromRaw(loadRaw_x(walkOffsets(0u, push.rank, item).x));
  state[push.target + item] = value;
}
