#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Attention of up to ROWS queries, split along the keys so that the device is kept busy: a workgroup takes kSlice keys
// of one head. It leaves, for each of its queries, the largest score, the sum of the weights and the weighted sums of
// the values, [head][query][slice]; combine.comp makes the output of them, and reads no slice behind the last key.
//   valueTiles   slices
#include "attention/scores.glsl"
#include "attention/fours.glsl"

layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { float parts[]; };

const uint kMostRows = 8u;
const uint kSlice = 256u;
const uint kMostFours = 64u;  // of a query's channels
// Loads that wait for memory together. Copies of a loop take a compiler of DXIL as often as long.
#if DIMPLE_COMPACT
const uint kAhead = 1u;
#else
const uint kAhead = 8u;
#endif

shared vec4 queries[kMostRows * kMostFours];
shared float weights[kMostRows * kSlice];  // scores, then their exponentials
shared vec4 sums[256];
shared float shares[256];

void loadQueries(uint lane, uint batch, uint head) {
  const uint fours = push.keySize / 4u;
  for (uint item = lane; item < push.queries * fours; item += 256u) {
    const uint channel = item % fours * 4u;
    const uvec4 at = uvec4(batch, head, item / fours, channel) * parameters[0];
    vec4 four = floatsOf(q[(parameters[6].x + at.x + at.y + at.z + at.w) / 4u]);
    if ((push.flags & kHasBias) != 0u)
      [[unroll]] for (uint i = 0u; i < 4u; ++i) four[i] += queryBias(head, channel + i);
    queries[item / fours * kMostFours + item % fours] = four;
  }
}

// An invocation a key.
void multiplyKeys(uint lane, uint batch, uint head, uint firstKey, uint keys) {
  const uint key = min(firstKey + lane, keys - 1u);
  const uint fours = push.keySize / 4u;
  const uvec3 at = uvec3(batch, head / push.headsPerKey, key) * parameters[1].xyz;
  const uint first = (parameters[6].y + at.x + at.y + at.z) / 4u;
  float products[kMostRows];
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) products[row] = 0.0;
  for (uint f = 0u; f < fours; f += kAhead) {
    vec4 loaded[kAhead];
    [[unroll]] for (uint i = 0u; i < kAhead; ++i) loaded[i] = floatsOf(k[first + min(f + i, fours - 1u)]);
    [[unroll]] for (uint i = 0u; i < kAhead; ++i)
      if (f + i < fours) {
        [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
          if (row < ROWS) products[row] += dot(queries[row * kMostFours + f + i], loaded[i]);
      }
  }
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
    if (row < ROWS) weights[row * kSlice + lane] = products[row];
  const float lowest = uintBitsToFloat(0xff800000u);
  [[dont_unroll]] for (uint row = 0u; row < push.queries; ++row) {
    const float product = weights[row * kSlice + lane];
    weights[row * kSlice + lane] =
        firstKey + lane < keys ? scoreFrom(product, batch, head, row, firstKey + lane) : lowest;
  }
}

// 32 invocations a query, eight keys each.
void weigh(uint lane, uint at) {
  const uint row = lane / 32u;
  const uint first = row * kSlice + lane % 32u;
  const bool works = row < push.queries;
  const float lowest = uintBitsToFloat(0xff800000u);
  float top = lowest;
  if (works)
    for (uint i = 0u; i < kSlice; i += 32u) top = maxNum(top, weights[first + i]);
  shares[lane] = top;
  for (uint half1 = 16u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane % 32u < half1) shares[lane] = maxNum(shares[lane], shares[lane + half1]);
  }
  barrier();
  top = shares[row * 32u];
  barrier();
  // The weights of a query whose scores are all -infinity are 0.
  const float reference = top == lowest ? 0.0 : top;
  float sum = 0.0;
  if (works)
    for (uint i = 0u; i < kSlice; i += 32u) {
      const float weight = expAccurate(weights[first + i] - reference);
      weights[first + i] = weight;
      sum += weight;
    }
  shares[lane] = sum;
  for (uint half1 = 16u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (lane % 32u < half1) shares[lane] += shares[lane + half1];
  }
  if (works && lane % 32u == 0u) {
    const uint to = at + row * push.valueTiles * (push.valueSize + 2u);
    parts[to] = top;
    parts[to + 1u] = shares[lane];
  }
  barrier();
}

// Adds up a row's results of `together` keys.
void addRow(uint lane, vec4 own, uint row, uint together, uint fours, uint at) {
  barrier();
  sums[lane] = own;
  barrier();
  if (lane < fours) {
    vec4 sum = vec4(0.0);
    for (uint i = 0u; i < together; ++i) sum += sums[i * fours + lane];
    const uint to = at + row * push.valueTiles * (push.valueSize + 2u) + 2u + lane * 4u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) parts[to + i] = sum[i];
  }
}

// Neighbouring invocations take neighbouring channels, as many of them as there are fours a key.
void addValues(uint lane, uint batch, uint head, uint firstKey, uint keys, uint at) {
  const uint fours = push.valueSize / 4u;
  const uint together = 256u / fours;  // keys
  const uint count = min(keys - firstKey, kSlice);
  const uvec2 base = uvec2(batch, head / push.headsPerKey) * parameters[2].xy;
  const uint first = (parameters[6].z + base.x + base.y + firstKey * parameters[2].z) / 4u + lane % fours;
  vec4 results[kMostRows];
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row) results[row] = vec4(0.0);
  if (lane < together * fours)
    for (uint key = lane / fours; key < count; key += kAhead * together) {
      vec4 loaded[kAhead];
      [[unroll]] for (uint i = 0u; i < kAhead; ++i)
        loaded[i] = floatsOf(v[first + min(key + i * together, count - 1u) * (parameters[2].z / 4u)]);
      [[unroll]] for (uint i = 0u; i < kAhead; ++i)
        if (key + i * together < count) {
          [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
            if (row < ROWS) results[row] += weights[row * kSlice + key + i * together] * loaded[i];
        }
    }
#if DIMPLE_COMPACT
  // This is one copy for all rows, which takes a third of the time to compile as DXIL.
  [[dont_unroll]] for (uint row = 0u; row < push.queries; ++row) {
    vec4 own = results[0];
    [[unroll]] for (uint other = 1u; other < kMostRows; ++other)
      if (row == other) own = results[other];
    addRow(lane, own, row, together, fours, at);
  }
#else
  [[unroll]] for (uint row = 0u; row < kMostRows; ++row)
    if (row < ROWS && row < push.queries) addRow(lane, results[row], row, together, fours, at);
#endif
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint slice = group % push.valueTiles;
  const uint head = group / push.valueTiles % push.heads;
  const uint batch = group / push.valueTiles / push.heads;
  const uint at = ((batch * push.heads + head) * push.queries * push.valueTiles + slice) * (push.valueSize + 2u);
  const uint keys = keysToRead(batch);
  if (slice * kSlice >= keys) return;
  loadQueries(lane, batch, head);
  barrier();
  multiplyKeys(lane, batch, head, slice * kSlice, keys);
  barrier();
  weigh(lane, at);
  addValues(lane, batch, head, slice * kSlice, keys, at);
}
