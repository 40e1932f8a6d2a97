#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// What steps begin with: of each (direction, sequence, hidden unit) the hidden state, as [d][b][h] and as an operand,
// and that of the cell; of each (direction, hidden unit) four biases, those of its gates, and three peepholes. What is
// absent is 0.
//   linear       a third gate whose recurrent bias, and so that alone, is the third one; its other bias is the fourth
//   depth        hidden units of the operand, zeros behind those that exist
//   operands     of the operand's arrays, of operandElements each: the first holds the state, the others zeros
// parameters[1] on: {bias strides d, element; peephole strides d, element} {hidden state's strides d, b, h}
//   {cell's strides d, b, h}
#include "common/grid.glsl"

TENSOR_IN(bias)
TENSOR_IN(peephole)
TENSOR_IN(hidden)
TENSOR_IN(cell)
layout(set = 0, binding = BINDING_state, std430) buffer stateBuffer { float state[]; };
#include "recurrent/operand.glsl"

float biasOf(uint direction, uint row) {
  return fromRaw(loadRaw_bias(direction * parameters[1].x + row * parameters[1].y));
}

void storeConstants(uint item) {
  const uint direction = item / push.hiddenSize;
  const uint h = item - direction * push.hiddenSize;
  for (uint i = 0u; i < 4u; ++i) {
    const bool split = push.linear != 0u && i >= 2u;
    const uint gate = split ? 2u : i;
    float value = 0.0;
    if (push.hasBias != 0u && gate < push.gates) {
      const uint row = gate * push.hiddenSize + h;
      if (!split || i == 3u) value = biasOf(direction, row);
      if (!split || i == 2u) value += biasOf(direction, push.gates * push.hiddenSize + row);
    }
    state[push.biasAt + item * 4u + i] = value;
  }
  for (uint i = 0u; i < 3u; ++i) {
    float value = 0.0;
    if (push.hasPeephole != 0u)
      value = fromRaw(loadRaw_peephole(direction * parameters[1].z + (i * push.hiddenSize + h) * parameters[1].w));
    state[push.peepholeAt + item * 3u + i] = value;
  }
}

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uint places = push.directions * push.batchSize * push.depth;
  if (item >= places) {
    storeConstants(item - places);
    return;
  }
  const uint sequence = item / push.depth;
  const uint h = item - sequence * push.depth;
  const uint direction = sequence / push.batchSize;
  const uint b = sequence - direction * push.batchSize;
  const bool exists = b < push.batch && h < push.hiddenSize;
  float value = 0.0;
  if (exists) {
    const uvec3 at = uvec3(direction, b, h);
    const uvec3 ofHidden = at * parameters[2].xyz;
    const uvec3 ofCell = at * parameters[3].xyz;
    if (push.hasHidden != 0u) value = fromRaw(loadRaw_hidden(ofHidden.x + ofHidden.y + ofHidden.z));
    float cellState = 0.0;
    if (push.hasCell != 0u) cellState = fromRaw(loadRaw_cell(ofCell.x + ofCell.y + ofCell.z));
    const uint place = (direction * push.batch + b) * push.hiddenSize + h;
    state[push.hiddenAt + place] = value;
    state[push.cellAt + place] = cellState;
  }
  const uint at = operandAt(direction, b, h);
  for (uint i = 0u; i < push.operands; ++i) storeOperand(i * push.operandElements + at, i == 0u ? value : 0.0);
}
