// One step of a recurrent network, of all sequences and directions: what its kernels have in common. Each sums the
// products of an element's weights in a way of its own; here is what becomes of the sums.
// parameters[0] on:
//   {recurrence strides d, row, k; stride of lengths}, three of recurrent/state.comp
//   {sequence strides t, d, b, h}   {single strides d, b, h}   {cell strides d, b, h}
//   {activation, its two parameters}, three a direction
// The state holds the products of inputs and weights, [d][t][b][gate][h], and what recurrent/state.comp puts there.
#include "common/grid.glsl"
#include "common/math.glsl"
// Of functions of halves (common/halves.glsl) none is taken: gates and states stay FLOAT32 over all steps.
#define NO_HALVES
#include "common/functions.glsl"
#include "common/activation.glsl"

const uint kRnn = 0u;
const uint kGruLinear = 1u;  // linear before reset: all gates at once
const uint kGruGates = 2u;   // the update and reset gates, and the hidden state times the latter,
const uint kGruHidden = 3u;  // of which the recurrent weights make the rest
const uint kLstm = 4u;

// Gates whose sums a step takes, and columns of weights that a hidden unit has.
#define GATES (KIND == kLstm ? 4u : KIND == kGruLinear ? 3u : KIND == kGruGates ? 2u : 1u)
#define SLOTS (KIND == kLstm || KIND == kGruLinear ? 4u : KIND == kGruGates ? 2u : 1u)
#define FIRST_GATE (KIND == kGruHidden ? 2u : 0u)

const uint kHasLengths = 1u;
const uint kHasPeephole = 2u;
const uint kHasSequence = 8u;
const uint kHasSingle = 16u;
const uint kHasCell = 32u;
const uint kClips = 64u;
const uint kCouples = 128u;

layout(set = 0, binding = BINDING_state, std430) buffer stateBuffer { float state[]; };
layout(set = 0, binding = BINDING_lengths, std430) readonly buffer lengthsBuffer { uint lengths[]; };
TENSOR_OUT(sequence)
TENSOR_OUT(single)
TENSOR_OUT(cell)
#include "recurrent/operand.glsl"

// IS_PLAIN: whether sequences are known to have one length, and gates no peepholes, no limits and no couples.
#ifndef IS_PLAIN
#define IS_PLAIN false
#endif
const uint kOfOutputs = kHasSequence | kHasSingle | kHasCell;

bool has(uint flag) { return (push.flags & flag & (IS_PLAIN ? kOfOutputs : ~0u)) != 0u; }

// The usual functions without branches, so that those of several gates overlap.
float usualSigmoid(float x) {
  const float e = expOfNegative(-abs(x));
  return isNan(x) ? x : (x < 0.0 ? e : 1.0) / (1.0 + e);
}
float usualTanh(float x) {
  const float magnitude = abs(x);
  const float e = expOfNegative(-2.0 * magnitude);
  const float large = (1.0 - e) / (1.0 + e);
  const float y = magnitude < 0.625 ? tanhNearZero(magnitude) : large;
  return isNan(x) ? x : x < 0.0 ? -y : y;
}

// USUAL: gates are sigmoids, all else is tanh, in all directions.
float activated(uint direction, uint which, float x) {
  const uvec4 activation = parameters[7u + direction * 3u + which];
  uint type = activation.x;
  const bool isGate = which == 0u && KIND != kRnn;
#if DIMPLE_COMPACT
  // DXIL does not specialize, and would hold both.
  if (USUAL != 0u) type = isGate ? DML_OPERATOR_ACTIVATION_SIGMOID : DML_OPERATOR_ACTIVATION_TANH;
#else
  if (USUAL != 0u) return isGate ? usualSigmoid(x) : usualTanh(x);
#endif
  return activate(type, x, vec2(uintBitsToFloat(activation.y), uintBitsToFloat(activation.z)));
}

float clipped(float x) {
  if (!has(kClips)) return x;
  const float limit = uintBitsToFloat(push.clip);
  return x > limit ? limit : x < -limit ? -limit : x;
}

// Steps of a sequence.
uint lengthOf(uint b) {
  return has(kHasLengths) ? min(lengths[b * parameters[0].w], push.steps) : push.steps;
}

// An element of the state, and what a step needs of it beside the sums.
struct Item {
  uint direction, b, h;
  uint place;    // in an array [d][b][h]
  bool running;  // its sequence has not ended
  uint t;
  vec4 x;  // what the inputs give to the gates, and the biases
  float oldHidden, oldCell;
  uint operand, sequence;  // where the results go
};

Item itemAt(uint direction, uint b, uint h) {
  Item item;
  item.direction = direction;
  item.b = b;
  item.h = h;
  item.place = (direction * push.batch + b) * push.hiddenSize + h;
  const uint length1 = lengthOf(b);
  item.running = push.step1 < length1;
  // The last direction of two, or the only one, may be the backward one.
  const bool backward = direction >= push.firstBackward;
  item.t = backward && item.running ? length1 - 1u - push.step1 : push.step1;
  item.operand = push.toAt + operandAt(direction, b, h);
  const uvec4 ofSequence = uvec4(item.t, direction, b, h) * parameters[4];
  item.sequence = ofSequence.x + ofSequence.y + ofSequence.z + ofSequence.w;
  item.oldHidden = state[push.hiddenAt + item.place];
  item.oldCell = KIND == kLstm ? state[push.cellAt + item.place] : 0.0;
  const uint projection = ((direction * push.steps + item.t) * push.batch + b) * push.rows + h;
  const uint bias = push.biasAt + (direction * push.hiddenSize + h) * 4u;
  item.x = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    // Linear before reset, the third gate's recurrent part is multiplied before its other one is added.
    const uint gate = KIND == kGruLinear && i == 3u ? 2u : FIRST_GATE + i;
    if (i < SLOTS) {
      item.x[i] = state[bias + FIRST_GATE + i];
      if (KIND != kGruLinear || i != 2u) item.x[i] += state[projection + gate * push.hiddenSize];
    }
  }
  return item;
}

float lstmGate(Item item, uint which, float x, uint peephole, float cellState) {
  if (has(kHasPeephole))
    x += state[push.peepholeAt + (item.direction * push.hiddenSize + item.h) * 3u + peephole] * cellState;
  return activated(item.direction, which, clipped(x));
}

void finishItem(Item item, vec4 sums) {
  const uint direction = item.direction;
  float newHidden = item.oldHidden;
  float cellState = item.oldCell;
  if (item.running) {
    // What fills the fourth place of three gates may be NaN.
    const vec4 x = (KIND == kGruLinear ? vec4(sums.xyz, 0.0) : sums) + item.x;
    if (KIND == kRnn) newHidden = activated(direction, 0u, x.x);
    if (KIND == kGruGates) {
      state[push.updateAt + item.place] = activated(direction, 0u, x.x);
      storeOperand(item.operand, activated(direction, 0u, x.y) * item.oldHidden);
      return;
    }
    if (KIND == kGruLinear || KIND == kGruHidden) {
      float update;
      float candidate;
      if (KIND == kGruLinear) {
        update = activated(direction, 0u, x.x);
        candidate = x.w + activated(direction, 0u, x.y) * x.z;
      } else {
        update = state[push.updateAt + item.place];
        candidate = x.x;
      }
      newHidden = (1.0 - update) * activated(direction, 1u, candidate) + update * item.oldHidden;
    }
    if (KIND == kLstm) {
      const float inputGate = lstmGate(item, 0u, x.x, 0u, cellState);
      const float forgetGate = has(kCouples) ? 1.0 - inputGate : lstmGate(item, 0u, x.z, 2u, cellState);
      cellState = forgetGate * cellState + inputGate * activated(direction, 1u, clipped(x.w));
      const float outputGate = lstmGate(item, 0u, x.y, 1u, cellState);
      newHidden = outputGate * activated(direction, 2u, cellState);
      state[push.cellAt + item.place] = cellState;
    }
  }
  if (KIND == kGruGates) return;
  state[push.hiddenAt + item.place] = newHidden;
  storeOperand(item.operand, newHidden);
  // Steps behind the end of a sequence are 0.
  if (has(kHasSequence)) storeRaw_sequence(item.sequence, toRaw(item.running ? newHidden : 0.0));
  if (push.step1 + 1u != push.steps) return;
  const uvec3 last = uvec3(direction, item.b, item.h);
  if (has(kHasSingle)) {
    const uvec3 place = last * parameters[5].xyz;
    storeRaw_single(place.x + place.y + place.z, toRaw(newHidden));
  }
  if (has(kHasCell)) {
    const uvec3 place = last * parameters[6].xyz;
    storeRaw_cell(place.x + place.y + place.z, toRaw(cellState));
  }
}
