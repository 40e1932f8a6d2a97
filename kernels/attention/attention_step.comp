#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What attention_split.comp does, of one query a head and FLOAT16 whose channels lie in vectors of eight, kMostVectors
// of them at most: a workgroup takes so few keys that it loads all of them and their values at once, and then waits for
// memory once.
//   valueTiles   slices
#include "attention/scores.glsl"

layout(set = 0, binding = BINDING_q, std430) readonly buffer qBuffer { uvec4 q[]; };
layout(set = 0, binding = BINDING_k, std430) readonly buffer kBuffer { uvec4 k[]; };
layout(set = 0, binding = BINDING_v, std430) readonly buffer vBuffer { uvec4 v[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { float parts[]; };

const uint kSlice = 64u;
const uint kSharing = 256u / kSlice;  // invocations a key
const uint kMostVectors = 16u;        // of a head's channels
const uint kVectors = kMostVectors / kSharing;
const uint kValues = kMostVectors * kSlice / 256u;  // vectors that an invocation has of values

shared vec4 products[kSlice];  // of a key, in kSharing parts
shared float scores[kSlice];
shared float weights[kSlice];
const uint kTops = 8u;
shared float tops[kTops];
shared vec4 sums[2u * 256u];

vec4 floatsOf(uvec2 raws) { return vec4(unpackHalf2x16(raws.x), unpackHalf2x16(raws.y)); }

float productOf(uvec4 a, uvec4 b, vec4 bias0, vec4 bias1) {
  return dot(floatsOf(a.xy) + bias0, floatsOf(b.xy)) + dot(floatsOf(a.zw) + bias1, floatsOf(b.zw));
}

vec4 queryBiases(uint head, uint channel) {
  vec4 four = vec4(0.0);
  if ((push.flags & kHasBias) != 0u)
    [[unroll]] for (uint i = 0u; i < 4u; ++i) four[i] = queryBias(head, channel + i);
  return four;
}

float topOfAll() {
  float top = tops[0];
  [[unroll]] for (uint i = 1u; i < kTops; ++i) top = maxNum(top, tops[i]);
  return top;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint slice = group % push.valueTiles;
  const uint head = group / push.valueTiles % push.heads;
  const uint batch = group / push.valueTiles / push.heads;
  const uint at = ((batch * push.heads + head) * push.valueTiles + slice) * (push.valueSize + 2u);
  const uint firstKey = slice * kSlice;
  const uint keys = keysToRead(batch);
  if (firstKey >= keys) return;
  const uint count = min(keys - firstKey, kSlice);

  // All that is read of the cache is on its way before the first number is used. Neighbours take neighbouring vectors.
  const uint keyHead = head / push.headsPerKey;
  const uint vectors = push.keySize / 8u;
  const uvec3 ofKey = uvec3(batch, keyHead, firstKey + min(lane / kSharing, count - 1u)) * parameters[1].xyz;
  const uint firstOfKey = (parameters[6].y + ofKey.x + ofKey.y + ofKey.z) / 8u;
  uvec4 ofKeys[kVectors];
  [[unroll]] for (uint i = 0u; i < kVectors; ++i)
    ofKeys[i] = k[firstOfKey + min(i * kSharing + lane % kSharing, vectors - 1u)];
  const uint valueVectors = push.valueSize / 8u;
  const uint together = 256u / valueVectors;  // keys
  const uint keyOfValues = lane / valueVectors;
  const uvec2 ofValue = uvec2(batch, keyHead) * parameters[2].xy;
  const uint firstOfValue = (parameters[6].z + ofValue.x + ofValue.y + firstKey * parameters[2].z) / 8u +
                            (lane - keyOfValues * valueVectors);
  uvec4 ofValues[kValues];
  [[unroll]] for (uint i = 0u; i < kValues; ++i)
    ofValues[i] = v[firstOfValue + min(keyOfValues + i * together, count - 1u) * (parameters[2].z / 8u)];

  const uvec2 ofQuery = uvec2(batch, head) * parameters[0].xy;
  const uint firstOfQuery = (parameters[6].x + ofQuery.x + ofQuery.y) / 8u;
  float product = 0.0;
  [[unroll]] for (uint i = 0u; i < kVectors; ++i) {
    const uint vector = i * kSharing + lane % kSharing;
    if (vector < vectors)
      product += productOf(q[firstOfQuery + vector], ofKeys[i], queryBiases(head, vector * 8u),
                           queryBiases(head, vector * 8u + 4u));
  }
  products[lane / kSharing][lane % kSharing] = product;
  barrier();
  const float lowest = uintBitsToFloat(0xff800000u);
  // Few invocations do what each key takes once.
  if (lane < kSlice) {
    const vec4 four = products[lane];
    scores[lane] =
        lane < count ? scoreFrom((four.x + four.y) + (four.z + four.w), batch, head, 0u, firstKey + lane) : lowest;
  }
  barrier();
  if (lane < kTops) {
    float own = lowest;
    [[unroll]] for (uint i = 0u; i < kSlice / kTops; ++i) own = maxNum(own, scores[lane * (kSlice / kTops) + i]);
    tops[lane] = own;
  }
  barrier();
  if (lane < kSlice) {
    const float top = topOfAll();
    // The weights of a query whose scores are all -infinity are 0.
    weights[lane] = expAccurate(scores[lane] - (top == lowest ? 0.0 : top));
  }
  barrier();
  vec4 first = vec4(0.0);
  vec4 last = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < kValues; ++i) {
    const uint key = keyOfValues + i * together;
    if (key >= count) continue;
    const float weight = weights[key];
    first += weight * floatsOf(ofValues[i].xy);
    last += weight * floatsOf(ofValues[i].zw);
  }
  sums[lane * 2u] = first;
  sums[lane * 2u + 1u] = last;
  barrier();
  // The first invocations have four channels each, and another one the weights.
  const uint fours = push.valueSize / 4u;
  if (lane < fours) {
    vec4 sum = vec4(0.0);
    for (uint i = 0u; i < together; ++i) sum += sums[i * fours + lane];
    [[unroll]] for (uint i = 0u; i < 4u; ++i) parts[at + 2u + lane * 4u + i] = sum[i];
  } else if (lane == 255u) {
    vec4 sum = vec4(0.0);
    [[unroll]] for (uint i = 0u; i < kSlice; i += 4u)
      sum += vec4(weights[i], weights[i + 1u], weights[i + 2u], weights[i + 3u]);
    parts[at] = topOfAll();
    parts[at + 1u] = (sum.x + sum.y) + (sum.z + sum.w);
  }
}
