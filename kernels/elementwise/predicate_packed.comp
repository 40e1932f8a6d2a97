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

void main() {
  uint vector;
  if (!gridItem((push.count + kVectorElements - 1u) / kVectorElements, vector)) return;
  const uint left = elementsLeft(push.count, vector);
  const Vector v = load_a(vector, left, (push.uniformMask & 1u) != 0u);
  const Vector w = load_b(vector, left, (push.uniformMask & 2u) != 0u);
  const uint first = vector * kVectorElements;
  [[unroll]] for (uint i = 0u; i < kVectorElements; i += 4u) {
    uint answers = 0u;
    [[unroll]] for (uint j = i; j < i + 4u; ++j) {
      const uint answer = ask(fromRaw(elementOf(v, j)), fromRaw(elementOf(w, j)));
      if (push.outBytes == 4u && j < left) y[first + j] = answer;
      answers |= answer << (j % 4u * 8u);
    }
    if (push.outBytes == 4u || i >= left) continue;
    const uint at = (first + i) / 4u;
    // The bytes behind the last element are kept.
    const uint kept = left - i >= 4u ? 0u : ~((1u << ((left - i) * 8u)) - 1u);
    y[at] = kept == 0u ? answers : answers & ~kept | y[at] & kept;
  }
}
