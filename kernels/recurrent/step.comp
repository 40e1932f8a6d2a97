#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A step that reads the weights as they are given: 16 invocations sum an element's products, the first of them computes
// its gates.
#include "recurrent/step.glsl"

TENSOR_IN(weights)

const uint kLanes = 16u;
shared vec4 sharedSums[256];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint k0 = lane % kLanes;
  const uint element = group * (256u / kLanes) + lane / kLanes;
  const bool exists = element < push.directions * push.batch * push.hiddenSize;
  const uint place = exists ? element : 0u;
  const uint sequenceAt = place / push.hiddenSize;  // d * batch + b
  const uint h = place - sequenceAt * push.hiddenSize;
  const uint direction = sequenceAt / push.batch;
  const uint b = sequenceAt - direction * push.batch;

  vec4 sums = vec4(0.0);
  if (exists && push.step1 < lengthOf(b)) {
    const uint line = push.fromAt + operandAt(direction, b, 0u);
    const uint row = direction * parameters[0].x + (FIRST_GATE * push.hiddenSize + h) * parameters[0].y;
    const uint gateStride = push.hiddenSize * parameters[0].y;
    for (uint k = k0; k < push.hiddenSize; k += kLanes) {
      const float previous = operand[line + k];
      const uint at = row + k * parameters[0].z;
      sums.x += previous * fromRaw(loadRaw_weights(at));
      if (GATES > 1u) sums.y += previous * fromRaw(loadRaw_weights(at + gateStride));
      if (GATES > 2u) sums.z += previous * fromRaw(loadRaw_weights(at + 2u * gateStride));
      if (GATES > 3u) sums.w += previous * fromRaw(loadRaw_weights(at + 3u * gateStride));
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
  if (k0 == 0u && exists) finishItem(itemAt(direction, b, h), sums);
}
