#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// A workgroup computes up to 128 channels of the output at 64 queries of one head: it passes over the keys once, 64 at a
// time, with running maxima, sums and weighted sums of values. What it multiplies lies in shared memory.
#include "attention/scores.glsl"

const uint kQueries = 64u;
const uint kKeys = 64u;
const uint kChannels = 128u;  // of the output
const uint kDepth = 16u;      // channels of query and key, or keys of the value, that are staged at a time
const uint kStride = 65u;     // no power of two, so that columns lie in different banks

shared float weights[kQueries * kStride];  // scores, then their exponentials: a row a query
// Columns of query and key, or rows of the value.
shared float staged[2u * kDepth * kStride];
shared float shares[256];  // four a query
shared float tops[kQueries];
shared float sums[kQueries];
shared float shrinks[kQueries];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint queryTiles = (push.queries + kQueries - 1u) / kQueries;
  const uint firstChannel = group % push.valueTiles * kChannels;
  const uint firstQuery = group / push.valueTiles % queryTiles * kQueries;
  const uint head = group / push.valueTiles / queryTiles % push.heads;
  const uint batch = group / push.valueTiles / queryTiles / push.heads;
  const uvec4 keyAt = uvec4(batch, head / push.headsPerKey, 1u, 1u) * parameters[1];
  const uvec4 valueAt = uvec4(batch, head / push.headsPerKey, 1u, 1u) * parameters[2];
  const uint keyBase = parameters[6].y + keyAt.x + keyAt.y;
  const uint valueBase = parameters[6].z + valueAt.x + valueAt.y;
  // Four queries, and of 16 invocations side by side every 16th key or channel.
  const uint row = lane / 16u * 4u;
  const uint column = lane % 16u;

  const float lowest = uintBitsToFloat(0xff800000u);
  float results[4][kChannels / 16u];
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    [[unroll]] for (uint c = 0u; c < kChannels / 16u; ++c) results[i][c] = 0.0;
  if (lane < kQueries) {
    tops[lane] = lowest;
    sums[lane] = 0.0;
  }

  for (uint firstKey = 0u; firstKey < push.keys; firstKey += kKeys) {
    const uint count = min(push.keys - firstKey, kKeys);
    float products[4][kKeys / 16u];
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      [[unroll]] for (uint j = 0u; j < kKeys / 16u; ++j) products[i][j] = 0.0;
    for (uint first = 0u; first < push.keySize; first += kDepth) {
      [[unroll]] for (uint n = 0u; n < kQueries * kDepth / 256u; ++n) {
        const uint channel = first + lane % kDepth;
        const uint place = lane / kDepth + n * (256u / kDepth);
        const bool isQuery = channel < push.keySize && firstQuery + place < push.queries;
        const bool isKey = channel < push.keySize && place < count;
        const uint at = lane % kDepth * kStride + place;
        staged[at] = isQuery ? atQuery(batch, head, firstQuery + place, channel) : 0.0;
        staged[kDepth * kStride + at] =
            isKey ? fromRaw(loadRaw_k(keyBase + (firstKey + place) * keyAt.z + channel * keyAt.w)) : 0.0;
      }
      barrier();
      for (uint d = 0u; d < kDepth; ++d) {
        float a[4];
        [[unroll]] for (uint i = 0u; i < 4u; ++i) a[i] = staged[d * kStride + row + i];
        [[unroll]] for (uint j = 0u; j < kKeys / 16u; ++j) {
          const float b = staged[(kDepth + d) * kStride + column + j * 16u];
          [[unroll]] for (uint i = 0u; i < 4u; ++i) products[i][j] += a[i] * b;
        }
      }
      barrier();
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      [[unroll]] for (uint j = 0u; j < kKeys / 16u; ++j) {
        const uint query = firstQuery + row + i;
        const uint key = column + j * 16u;
        const bool exists = query < push.queries && key < count;
        weights[(row + i) * kStride + key] =
            exists ? scoreFrom(products[i][j], batch, head, query, firstKey + key) : lowest;
      }
    barrier();

    // Four invocations a query.
    const uint mine = lane / 4u;
    const uint firstMine = mine * kStride + lane % 4u * (kKeys / 4u);
    float top = lowest;
    for (uint j = 0u; j < kKeys / 4u; ++j) top = maxNum(top, weights[firstMine + j]);
    shares[lane] = top;
    barrier();
    const float oldTop = tops[mine];
    [[unroll]] for (uint j = 0u; j < 4u; ++j) top = maxNum(top, shares[mine * 4u + j]);
    top = maxNum(top, oldTop);
    float sum = 0.0;
    for (uint j = 0u; j < kKeys / 4u; ++j) {
      const float score = weights[firstMine + j];
      const float weight = score == lowest ? 0.0 : expAccurate(score - top);
      weights[firstMine + j] = weight;
      sum += weight;
    }
    barrier();
    shares[lane] = sum;
    barrier();
    if (lane % 4u == 0u) {
      // Infinities of the same sign have no difference.
      const float shrink = oldTop == top ? 1.0 : expAccurate(oldTop - top);
      sums[mine] = sums[mine] * shrink + (shares[lane] + shares[lane + 1u] + (shares[lane + 2u] + shares[lane + 3u]));
      shrinks[mine] = shrink;
      tops[mine] = top;
    }
    barrier();

    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      const float shrink = shrinks[row + i];
      [[unroll]] for (uint c = 0u; c < kChannels / 16u; ++c) results[i][c] *= shrink;
    }
    for (uint first = 0u; first < count; first += kDepth) {
      [[unroll]] for (uint n = 0u; n < kDepth * kChannels / 256u; ++n) {
        const uint channel = firstChannel + lane % kChannels;
        const uint place = lane / kChannels + n * (256u / kChannels);
        const bool exists = channel < push.valueSize && first + place < count;
        const uint at = valueBase + (firstKey + first + place) * valueAt.z + channel * valueAt.w;
        staged[place * kChannels + lane % kChannels] = exists ? fromRaw(loadRaw_v(at)) : 0.0;
      }
      barrier();
      for (uint k1 = 0u; k1 < min(kDepth, count - first); ++k1) {
        float a[4];
        [[unroll]] for (uint i = 0u; i < 4u; ++i) a[i] = weights[(row + i) * kStride + first + k1];
        [[unroll]] for (uint c = 0u; c < kChannels / 16u; ++c) {
          const float b = staged[k1 * kChannels + column + c * 16u];
          [[unroll]] for (uint i = 0u; i < 4u; ++i) results[i][c] += a[i] * b;
        }
      }
      barrier();
    }
  }

  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint query = firstQuery + row + i;
    const float total = sums[row + i];
    const uvec4 at = uvec4(batch, head, query, 1u) * parameters[3];
    // The differences to an infinity are NaN, at one key at least.
    const bool undefined = (floatBitsToUint(tops[row + i]) & 0x7f800000u) == 0x7f800000u;
    [[unroll]] for (uint c = 0u; c < kChannels / 16u; ++c) {
      const uint channel = firstChannel + column + c * 16u;
      if (query >= push.queries || channel >= push.valueSize) continue;
      const float result = undefined ? uintBitsToFloat(0x7fc00000u) : results[i][c] / total;
      storeRaw_y(at.x + at.y + at.z + channel * at.w, toRaw(result));
    }
  }
}
