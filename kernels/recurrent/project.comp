#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What the input gives to every gate of every step: X * W^T and the biases, as state[((d * steps + t) * batch + b) *
// rows + row]. A workgroup computes a tile of 16 sequence elements (t, b) and 16 rows of a direction's weights.
// parameters[0] on: {input strides t, b, i} {weight strides d, row, i} {bias strides d, element}
//   recurrentRows   rows whose recurrent bias is added here, too; none without a bias
#include "common/grid.glsl"

TENSOR_IN(x)
TENSOR_IN(w)
TENSOR_IN(bias)
layout(set = 0, binding = BINDING_state, std430) buffer stateBuffer { float state[]; };

const uint kTile = 16u;
shared float tileX[256];
shared float tileW[272];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint rowTiles = (push.rows + kTile - 1u) / kTile;
  const uint elementTiles = (push.elements + kTile - 1u) / kTile;
  const uint rowTile = group % rowTiles;
  const uint elementTile = group / rowTiles % elementTiles;
  const uint direction = group / rowTiles / elementTiles;
  const uint lane = gl_LocalInvocationID.x;
  const uint column = lane % kTile;
  const uint line = lane / kTile;
  const uvec4 xStrides = parameters[0];
  const uvec4 wStrides = parameters[1];

  // Loads go along the inputs: this invocation's element and row of weights, and its input in each tile.
  const uint element = min(elementTile * kTile + line, push.elements - 1u);
  const uint t = element / push.batch;
  const uint fromX = t * xStrides.x + (element - t * push.batch) * xStrides.y;
  const uint fromW = direction * wStrides.x + min(rowTile * kTile + line, push.rows - 1u) * wStrides.y;
  float sum = 0.0;
  // Sums of sums, so that many inputs lose no digits.
  float part = 0.0;
  uint parts = 0u;
  for (uint start = 0u; start < push.inputs; start += kTile) {
    const uint i = start + column;
    const bool inside = i < push.inputs;
    tileX[line * kTile + column] = inside ? fromRaw(loadRaw_x(fromX + i * xStrides.z)) : 0.0;
    tileW[line * (kTile + 1u) + column] = inside ? fromRaw(loadRaw_w(fromW + i * wStrides.z)) : 0.0;
    barrier();
    const uint most = min(kTile, push.inputs - start);
    for (uint k = 0u; k < most; ++k) part += tileX[line * kTile + k] * tileW[column * (kTile + 1u) + k];
    barrier();
    if (++parts == 32u) {
      sum += part;
      part = 0.0;
      parts = 0u;
    }
  }
  sum += part;
  const uint row = rowTile * kTile + column;
  if (elementTile * kTile + line >= push.elements || row >= push.rows) return;
  const uvec4 biasStrides = parameters[2];
  if (push.hasBias != 0u) {
    const uint from = direction * biasStrides.x;
    float b = fromRaw(loadRaw_bias(from + row * biasStrides.y));
    if (row < push.recurrentRows) b += fromRaw(loadRaw_bias(from + (push.rows + row) * biasStrides.y));
    sum += b;
  }
  state[(direction * push.elements + elementTile * kTile + line) * push.rows + row] = sum;
}
