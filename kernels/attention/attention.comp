#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A workgroup computes up to 256 channels of the output at one query of one head: it passes over the keys once, 256 at a
// time, with a running maximum, sum and weighted sum of values.
#include "attention/scores.glsl"

const uint kWidth = 256u;

shared float shares[256];
shared float weights[256];

float scoreOf(uint batch, uint head, uint query, uint key) {
  const uvec4 at = uvec4(batch, head / push.headsPerKey, key, 1u) * parameters[1];
  const uint first = parameters[6].y + at.x + at.y + at.z;
  float sum = 0.0;
  for (uint c = 0u; c < push.keySize; ++c) sum += atQuery(batch, head, query, c) * fromRaw(loadRaw_k(first + c * at.w));
  return scoreFrom(sum, batch, head, query, key);
}

float largestShare(uint lane) {
  for (uint half1 = kWidth / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) shares[lane] = maxNum(shares[lane], shares[lane + half1]);
  }
  barrier();
  return shares[0];
}

float sumOfShares(uint lane) {
  for (uint half1 = kWidth / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane < half1) shares[lane] += shares[lane + half1];
  }
  barrier();
  return shares[0];
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint channel = group % push.valueTiles * kWidth + lane;
  const uint query = group / push.valueTiles % push.queries;
  const uint head = group / push.valueTiles / push.queries % push.heads;
  const uint batch = group / push.valueTiles / push.queries / push.heads;
  const uvec4 valueAt = uvec4(batch, head / push.headsPerKey, 1u, channel) * parameters[2];
  const uint firstValue = parameters[6].z + valueAt.x + valueAt.y + valueAt.w;
  const bool hasChannel = channel < push.valueSize;

  const float lowest = uintBitsToFloat(0xff800000u);
  float top = lowest;
  float sum = 0.0;     // of the weights that this invocation computed
  float result = 0.0;  // of the weighted values of its channel
  for (uint first = 0u; first < push.keys; first += kWidth) {
    const uint count = min(push.keys - first, kWidth);
    const float score = lane < count ? scoreOf(batch, head, query, first + lane) : lowest;
    shares[lane] = score;
    const float newTop = maxNum(top, largestShare(lane));
    // Infinities of the same sign have no difference.
    const float shrink = top == newTop ? 1.0 : expAccurate(top - newTop);
    const float weight = lane >= count ? 0.0 : score == newTop ? 1.0 : expAccurate(score - newTop);
    top = newTop;
    sum = sum * shrink + weight;
    weights[lane] = weight;
    barrier();
    float part = 0.0;
    if (hasChannel)
      for (uint j = 0u; j < count; ++j) part += weights[j] * fromRaw(loadRaw_v(firstValue + (first + j) * valueAt.z));
    result = result * shrink + part;
    barrier();
  }
  shares[lane] = sum;
  const float total = sumOfShares(lane);
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[3];
  // The differences to an infinity are NaN, at one key at least.
  const bool undefined = (floatBitsToUint(top) & 0x7f800000u) == 0x7f800000u;
  if (hasChannel)
    storeRaw_y(at.x + at.y + at.z + at.w, toRaw(undefined ? uintBitsToFloat(0x7fc00000u) : result / total));
}
