// How attention_tile.comp brings queries, keys and values to shared memory and results to theirs, four channels at a
// time.
#if VECTOR
#include "attention/fours.glsl"
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { FOUR_RAWS y[]; };
#endif

// The invocation's four of a part of queries and keys: along their channels, and across.
uint channelPlace, acrossPlace;
uint queryAt, keyBase;  // the query, and the first key of the head
// The same of a part of values: which key, and the first of its channels.
uint valuePlace, valueChannel, valueAt;
uint headOfBias;
vec4 loadedA, loadedB, loadedV;

void prepareLoads(uint lane, uint batch, uint head, uint firstQuery, uint firstChannel) {
  channelPlace = lane % (kStep / 4u) * 4u;
  acrossPlace = lane / (kStep / 4u);
  valuePlace = lane / (kChannels / 4u);
  valueChannel = firstChannel + lane % (kChannels / 4u) * 4u;
  const bool hasQuery = isWhole() || firstQuery + acrossPlace < push.queries;
  const uvec4 query = uvec4(batch, head, hasQuery ? firstQuery + acrossPlace : 0u, 0u) * parameters[0];
  const uvec2 key = uvec2(batch, head / push.headsPerKey) * parameters[1].xy;
  const uvec2 value = uvec2(batch, head / push.headsPerKey) * parameters[2].xy;
  queryAt = parameters[6].x + query.x + query.y + query.z;
  headOfBias = head;
  keyBase = parameters[6].y + key.x + key.y;
  valueAt = parameters[6].z + value.x + value.y;
}

// Four elements from `at` on; zeros from `left` on.
#if VECTOR
#define LOAD_FOUR(NAME, FIRST)                                      \
  vec4 loadFour_##NAME(uint at, uint stride, uint left) {           \
    return left == 0u ? vec4(0.0) : floatsOf(NAME[at / 4u]);        \
  }
#else
// Elements outside are loaded from elsewhere, since such loads overlap.
#define LOAD_FOUR(NAME, FIRST)                                                           \
  vec4 loadFour_##NAME(uint at, uint stride, uint left) {                                \
    vec4 four;                                                                           \
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {                                          \
      const float value = fromRaw(loadRaw_##NAME(i < left ? at + i * stride : (FIRST))); \
      four[i] = i < left ? value : 0.0;                                                  \
    }                                                                                    \
    return four;                                                                         \
  }
#endif
LOAD_FOUR(q, parameters[6].x)
LOAD_FOUR(k, parameters[6].y)
LOAD_FOUR(v, parameters[6].z)

uint leftOf(uint first, uint size) { return first < size ? size - first : 0u; }

// Where all parts are whole, the first one is loaded instead of what lies behind the last, and not used.
uint wholePart(uint part, uint parts) { return !isWhole() || part < parts ? part : 0u; }

// The part of queries and of keys from `firstKey` on that begins at a channel.
void loadChannels(uint firstKey, uint first) {
  const uint channel = wholePart(first, push.keySize) + channelPlace;
  const uint left = isWhole() ? 4u : leftOf(channel, push.keySize);
  loadedA = loadFour_q(queryAt + channel * parameters[0].w, parameters[0].w, left);
  if (!isPlain() && (push.flags & kHasBias) != 0u)
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      if (i < left) loadedA[i] += queryBias(headOfBias, channel + i);
  const uint key = wholePart(firstKey, push.keys) + acrossPlace;
  loadedB = loadFour_k(keyBase + key * parameters[1].z + channel * parameters[1].w, parameters[1].w,
                       isWhole() || key < push.keys ? left : 0u);
}

void storeChannels(uint stage) {
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint at = stage * kStage + (channelPlace + i) * kPitch + acrossPlace / 4u;
    staged[at][acrossPlace % 4u] = loadedA[i];
    staged[kKeysAt + at][acrossPlace % 4u] = loadedB[i];
  }
}

// The part of values of a number, in the order of storeWeights.
void loadValues(uint firstKey, uint part) {
  const uint at = wholePart(part, kTile / kValueStep) * kValueStep + valuePlace;
  const uint pair = at / kWeighed;
  const uint key = firstKey + pair / 2u * 64u + at % kWeighed / 2u * 4u + pair % 2u * 2u + at % 2u;
  const uint left =
      isWhole() ? 4u : key < push.keys && pair < kPer / 2u ? leftOf(valueChannel, push.valueSize) : 0u;
  loadedV = loadFour_v(valueAt + key * parameters[2].z + valueChannel * parameters[2].w, parameters[2].w, left);
}

void storeValues(uint stage) {
  staged[kValuesAt + (stage * kValueStep + valuePlace) * kPitchV + gl_LocalInvocationID.x % (kChannels / 4u)] = loadedV;
}

void storeFour(vec4 values, uint batch, uint head, uint query, uint channel, uint lane) {
  const uvec4 at = uvec4(batch, head, query, channel) * parameters[3];
  const uint first = at.x + at.y + at.z + at.w;
#if VECTOR
  y[first / 4u] = rawsOf(values);
#else
  staged[lane] = values;
  [[dont_unroll]] for (uint i = 0u; i < 4u; ++i)
    if (channel + i < push.valueSize) storeRaw_y(first + i * parameters[3].w, toRaw(staged[lane][i]));
#endif
}
