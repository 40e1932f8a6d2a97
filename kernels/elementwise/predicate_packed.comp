#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Packed tensors. uniformMask: bit k set where operand k is one element that every position reads. outBytes: width of
// the output's elements, 1 or 4. mode: a DML_IS_INFINITY_MODE.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/halves.glsl"
#include "common/packed.glsl"
#include "common/vectors.glsl"

#define ATTRIBUTES push
#include "elementwise/predicate_functions.glsl"

VECTORS_IN(a)
VECTORS_IN(b)
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };
layout(set = 0, binding = BINDING_y, std430) buffer yFoursBuffer { uvec4 yFours[]; };
#if T_BITS == 32
layout(set = 0, binding = BINDING_y, std430) buffer yTwosBuffer { uvec2 yTwos[]; };
#endif

const uint kAnswerWords = kVectorElements / 4u;

// All answers of a vector, a byte each.
void storeWhole(uint vector, uint words[kAnswerWords]) {
#if T_BITS == 64
  y[vector] = words[0];
#elif T_BITS == 32
  yTwos[vector] = uvec2(words[0], words[1]);
#else
  [[unroll]] for (uint i = 0u; i < kAnswerWords; i += 4u)
    yFours[(vector * kAnswerWords + i) / 4u] = uvec4(words[i], words[i + 1u], words[i + 2u], words[i + 3u]);
#endif
}

void main() {
  uint vector;
  if (!gridItem((push.count + kVectorElements - 1u) / kVectorElements, vector)) return;
  const uint left = elementsLeft(push.count, vector);
  const bool isWhole = left >= kVectorElements;
  const Vector v = load_a(vector, left, (push.uniformMask & 1u) != 0u);
  const Vector w = load_b(vector, left, (push.uniformMask & 2u) != 0u);
  const uint first = vector * kVectorElements;
  uint words[kAnswerWords];
  [[unroll]] for (uint i = 0u; i < kVectorElements; i += 4u) {
    uvec4 answers;
    [[unroll]] for (uint j = 0u; j < 4u; ++j) answers[j] = ask(fromRaw(elementOf(v, i + j)), fromRaw(elementOf(w, i + j)));
    words[i / 4u] = answers.x | answers.y << 8 | answers.z << 16 | answers.w << 24;
    if (push.outBytes != 4u) continue;
    if (isWhole) {
      yFours[(first + i) / 4u] = answers;
    } else {
      [[unroll]] for (uint j = 0u; j < 4u; ++j)
        if (i + j < left) y[first + i + j] = answers[j];
    }
  }
  if (push.outBytes == 4u) return;
  if (isWhole) {
    storeWhole(vector, words);
    return;
  }
  [[unroll]] for (uint i = 0u; i < kAnswerWords; ++i) {
    if (i * 4u >= left) break;
    // The bytes behind the last element are kept.
    const uint used = left - i * 4u;
    const uint kept = used >= 4u ? 0u : ~((1u << (used * 8u)) - 1u);
    const uint at = first / 4u + i;
    y[at] = kept == 0u ? words[i] : words[i] & ~kept | y[at] & kept;
  }
}
