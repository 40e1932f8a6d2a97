#version 460
#extension GL_GOOGLE_include_directive : require

// Philox 4x32-10, with one invocation per block of four numbers, whose counter is that of the state plus the block's
// index. The state is {counter, lowest word first; key}, and afterwards has a counter beyond those used. Walk at
// parameters[0] over the output.
#include "common/grid.glsl"
#include "common/walk.glsl"

layout(set = 0, binding = BINDING_state, std430) readonly buffer stateBuffer { uint state[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };
layout(set = 0, binding = BINDING_newState, std430) buffer newStateBuffer { uint newState[]; };

uvec4 counterAt(uint block) {
  uvec4 counter =
      uvec4(state[0], state[push.stateStep], state[2u * push.stateStep], state[3u * push.stateStep]);
  counter.x += block;
  if (counter.x < block) {
    counter.y += 1u;
    if (counter.y == 0u) {
      counter.z += 1u;
      if (counter.z == 0u) counter.w += 1u;
    }
  }
  return counter;
}

uvec4 philox(uvec4 counter, uvec2 key) {
  for (uint round1 = 0u; round1 < 10u; ++round1) {
    const uint highA = mulHigh(0xd2511f53u, counter.x);
    const uint highB = mulHigh(0xcd9e8d57u, counter.z);
    counter = uvec4(highB ^ counter.y ^ key.x, 0xcd9e8d57u * counter.z, highA ^ counter.w ^ key.y,
                    0xd2511f53u * counter.x);
    key += uvec2(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}

void main() {
  uint block;
  if (!gridItem(push.blocks, block)) return;
  const uvec2 key = uvec2(state[4u * push.stateStep], state[5u * push.stateStep]);
  const uvec4 numbers = philox(counterAt(block), key);
  const uint first = block * 4u;
  for (uint k = 0u; k < 4u; ++k)
    if (k < push.count - first) y[walkOffsets(0u, push.rank, first + k).x] = numbers[k];
  if (push.hasNewState != 0u && block == 0u) {
    const uvec4 counter = counterAt(push.blocks);
    for (uint k = 0u; k < 4u; ++k) newState[k * push.newStateStep] = counter[k];
    for (uint k = 0u; k < 2u; ++k) newState[(4u + k) * push.newStateStep] = key[k];
  }
}
