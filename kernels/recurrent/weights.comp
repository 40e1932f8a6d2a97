#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The recurrent weights of some gates in the order in which steps read them. Those of a hidden unit are `slots` columns
// side by side, the last of which may be zeros.
//   MATRICES  [d][tile of columns][tile of the depth][SIZE_COLUMNS columns][SIZE_DEPTH steps of the depth], FLOAT16;
//             zeros behind the depth. Else [d][tile][depth][16 columns], FLOAT32.
// parameters[0]: {strides d, row, k}
#include "common/grid.glsl"

TENSOR_IN(r)
#if MATRICES
#define COLUMNS SIZE_COLUMNS
TENSOR_OUT(weights)
#else
#define COLUMNS 16u
layout(set = 0, binding = BINDING_weights, std430) buffer weightsBuffer { float weights[]; };
#endif

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
#if MATRICES
  const uint column = item / SIZE_DEPTH % SIZE_COLUMNS;
  const uint depthTile = item / (SIZE_COLUMNS * SIZE_DEPTH);
  const uint tile = depthTile / (push.depth / SIZE_DEPTH);
  const uint k = (depthTile - tile * (push.depth / SIZE_DEPTH)) * SIZE_DEPTH + item % SIZE_DEPTH;
#else
  const uint column = item % COLUMNS;
  const uint tile = item / COLUMNS / push.depth;
  const uint k = item / COLUMNS - tile * push.depth;
#endif
  const uint direction = tile / push.tiles;
  const uint place = (tile - direction * push.tiles) * COLUMNS + column;
  const uint unit = place / push.slots;
  const uint slot = place - unit * push.slots;
  uint raw = 0u;
  if (unit < push.hiddenSize && slot < push.gates && k < push.hiddenSize) {
    const uint row = (push.firstGate + slot) * push.hiddenSize + unit;
    raw = loadRaw_r(direction * parameters[0].x + row * parameters[0].y + k * parameters[0].z);
  }
#if MATRICES
  storeRaw_weights(push.weightsAt + item, raw);
#else
  weights[push.weightsAt + item] = fromRaw(raw);
#endif
}
