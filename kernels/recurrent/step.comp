#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// One step of a recurrent network, of all sequences and directions. 16 invocations sum an element's products with the
// recurrent weights, the first of them computes its gates.
// parameters[0] on:
//   {recurrence strides d, row, k; stride of lengths}   {bias strides d, element; peephole strides d, element}
//   {sequence strides t, d, b, h}   {single strides d, b, h}   {cell strides d, b, h}
//   {activation, its two parameters}, three a direction
// The state holds the projections of recurrent/project.comp, and at hiddenFrom, hiddenTo, cellAt, updateAt and resetAt
// an element each for (d, b, h).
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"

const uint kRnn = 0u;
const uint kGruLinear = 1u;  // linear before reset: all gates at once
const uint kGruGates = 2u;   // the update and reset gates, and the hidden state times the latter,
const uint kGruHidden = 3u;  // of which the recurrent weights make the rest
const uint kLstm = 4u;

const uint kHasLengths = 1u;
const uint kHasPeephole = 2u;
const uint kHasBias = 4u;
const uint kHasSequence = 8u;
const uint kHasSingle = 16u;
const uint kHasCell = 32u;
const uint kClips = 64u;
const uint kCouples = 128u;

layout(set = 0, binding = BINDING_state, std430) buffer stateBuffer { float state[]; };
TENSOR_IN(r)
layout(set = 0, binding = BINDING_lengths, std430) readonly buffer lengthsBuffer { uint lengths[]; };
TENSOR_IN(bias)
TENSOR_IN(peephole)
TENSOR_OUT(sequence)
TENSOR_OUT(single)
TENSOR_OUT(cell)

const uint kLanes = 16u;
shared vec4 sharedSums[256];

bool has(uint flag) { return (push.flags & flag) != 0u; }

float activated(uint direction, uint which, float x) {
  const uvec4 activation = parameters[5u + direction * 3u + which];
  return activate(activation.x, x, vec2(uintBitsToFloat(activation.y), uintBitsToFloat(activation.z)));
}

float clipped(float x) {
  if (!has(kClips)) return x;
  const float limit = uintBitsToFloat(push.clip);
  return x > limit ? limit : x < -limit ? -limit : x;
}

float peepholeOf(uint direction, uint gate, uint h) {
  if (!has(kHasPeephole)) return 0.0;
  return fromRaw(loadRaw_peephole(direction * parameters[1].z + (gate * push.hidden + h) * parameters[1].w));
}

float lstmGate(uint direction, uint which, float x, uint peepholeGate, uint h, float cellState) {
  if (has(kHasPeephole)) x += peepholeOf(direction, peepholeGate, h) * cellState;
  return activated(direction, which, clipped(x));
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint k0 = lane % kLanes;
  const uint item = group * (256u / kLanes) + lane / kLanes;
  const uint count = push.directions * push.batch * push.hidden;
  const bool exists = item < count;
  const uint place = exists ? item : 0u;
  const uint sequenceAt = place / push.hidden;  // d * batch + b
  const uint h = place - sequenceAt * push.hidden;
  const uint direction = sequenceAt / push.batch;
  const uint b = sequenceAt - direction * push.batch;
  const uint length1 = has(kHasLengths) ? min(lengths[b * parameters[0].w], push.steps) : push.steps;
  const bool running = exists && push.step1 < length1;

  const uint gates = KIND == kLstm ? 4u : KIND == kGruLinear ? 3u : KIND == kGruGates ? 2u : 1u;
  const uint firstGate = KIND == kGruHidden ? 2u : 0u;
  vec4 sums = vec4(0.0);
  if (running) {
    const uint from = (KIND == kGruHidden ? push.resetAt : push.hiddenFrom) + sequenceAt * push.hidden;
    const uint weights = direction * parameters[0].x + (firstGate * push.hidden + h) * parameters[0].y;
    const uint gateStride = push.hidden * parameters[0].y;
    for (uint k = k0; k < push.hidden; k += kLanes) {
      const float previous = state[from + k];
      const uint at = weights + k * parameters[0].z;
      sums.x += previous * fromRaw(loadRaw_r(at));
      if (gates > 1u) sums.y += previous * fromRaw(loadRaw_r(at + gateStride));
      if (gates > 2u) sums.z += previous * fromRaw(loadRaw_r(at + 2u * gateStride));
      if (gates > 3u) sums.w += previous * fromRaw(loadRaw_r(at + 3u * gateStride));
    }
  }
  sharedSums[lane] = sums;
  for (uint half1 = kLanes / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (k0 < half1) {
      sums += sharedSums[lane + half1];
      sharedSums[lane] = sums;
    }
  }
  if (k0 != 0u || !exists) return;

  float newHidden = state[push.hiddenFrom + place];
  const float oldHidden = newHidden;
  float cellState = KIND == kLstm ? state[push.cellAt + place] : 0.0;
  // The last direction of two, or the only one, may be the backward one.
  const bool backward = direction >= push.firstBackward;
  const uint t = backward && running ? length1 - 1u - push.step1 : push.step1;
  if (running) {
    const uint projection = ((direction * push.steps + t) * push.batch + b) * push.rows + h;
    vec4 x = sums;
    x.x += state[projection + firstGate * push.hidden];
    if (gates > 1u) x.y += state[projection + push.hidden];
    if (gates > 3u) {
      x.z += state[projection + 2u * push.hidden];
      x.w += state[projection + 3u * push.hidden];
    }
    if (KIND == kRnn) newHidden = activated(direction, 0u, x.x);
    if (KIND == kGruGates) {
      state[push.updateAt + place] = activated(direction, 0u, x.x);
      state[push.resetAt + place] = activated(direction, 0u, x.y) * oldHidden;
      return;
    }
    if (KIND == kGruLinear || KIND == kGruHidden) {
      float update;
      float candidate;
      if (KIND == kGruLinear) {
        update = activated(direction, 0u, x.x);
        float linear = x.z;
        if (has(kHasBias))
          linear += fromRaw(loadRaw_bias(direction * parameters[1].x + (5u * push.hidden + h) * parameters[1].y));
        candidate = state[projection + 2u * push.hidden] + activated(direction, 0u, x.y) * linear;
      } else {
        update = state[push.updateAt + place];
        candidate = x.x;
      }
      newHidden = (1.0 - update) * activated(direction, 1u, candidate) + update * oldHidden;
    }
    if (KIND == kLstm) {
      const float inputGate = lstmGate(direction, 0u, x.x, 0u, h, cellState);
      const float forgetGate = has(kCouples) ? 1.0 - inputGate : lstmGate(direction, 0u, x.z, 2u, h, cellState);
      cellState = forgetGate * cellState + inputGate * activated(direction, 1u, clipped(x.w));
      const float outputGate = lstmGate(direction, 0u, x.y, 1u, h, cellState);
      newHidden = outputGate * activated(direction, 2u, cellState);
      state[push.cellAt + place] = cellState;
    }
  }
  if (KIND == kGruGates) return;
  state[push.hiddenTo + place] = newHidden;
  if (has(kHasSequence)) {
    const uvec4 strides = parameters[2];
    // Steps behind the end of a sequence are 0.
    storeRaw_sequence(t * strides.x + direction * strides.y + b * strides.z + h * strides.w,
                      toRaw(running ? newHidden : 0.0));
  }
  if (push.step1 + 1u != push.steps) return;
  const uvec4 at = uvec4(direction, b, h, 0u);
  if (has(kHasSingle)) {
    const uvec4 strides = parameters[3];
    storeRaw_single(at.x * strides.x + at.y * strides.y + at.z * strides.z, toRaw(newHidden));
  }
  if (has(kHasCell)) {
    const uvec4 strides = parameters[4];
    storeRaw_cell(at.x * strides.x + at.y * strides.y + at.z * strides.z, toRaw(cellState));
  }
}
