#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Packed tensors. uniformMask: bit k set where operand k (condition, a, b) is one element that every position reads.
#include "common/grid.glsl"
#include "common/packed.glsl"
#include "common/vectors.glsl"

layout(set = 0, binding = BINDING_condition, std430) readonly buffer conditionBuffer { uint condition[]; };
VECTORS_IN(a)
VECTORS_IN(b)
PACKED_OUT(y)

bool isUniform(uint operand) { return (push.uniformMask >> operand & 1u) != 0u; }

// The bits of word `word` of a vector where an element's condition holds.
uint chosenBits(uint vector, uint word) {
#if T_BITS == 64
  const uint first = vector * kVectorElements + word / 2u;
  const uint lanes = 1u;
#else
  const uint first = vector * kVectorElements + word * PACKED_LANES;
  const uint lanes = PACKED_LANES;
#endif
  // The conditions of a word's elements lie in one word.
  const uint conditions = isUniform(0u) ? condition[0] : condition[first / 4u] >> (first % 4u * 8u);
  uint bits = 0u;
  [[unroll]] for (uint lane = 0u; lane < lanes; ++lane) {
    const uint byte = isUniform(0u) ? conditions & 0xffu : conditions >> (lane * 8u) & 0xffu;
#if T_BITS >= 32
    if (byte != 0u) bits = 0xffffffffu;
#else
    if (byte != 0u) bits |= LANE_BITS(T_MASK, lane);
#endif
  }
  return bits;
}

void main() {
  uint vector;
  if (!gridItem((push.count + kVectorElements - 1u) / kVectorElements, vector)) return;
  const uint left = elementsLeft(push.count, vector);
  const Vector v = load_a(vector, left, isUniform(1u));
  const Vector w = load_b(vector, left, isUniform(2u));
  [[unroll]] for (uint part = 0u; part < 2u; ++part) {
    uvec4 result;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      const uint word = part * 4u + i;
      const uint chosen = word * 32u < left * T_BITS ? chosenBits(vector, word) : 0u;
      result[i] = v.part[part][i] & chosen | w.part[part][i] & ~chosen;
    }
    const uint at = vector * 2u + part;
    if (left == kVectorElements) {
      y[at] = result;
      continue;
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
      const uint before = (part * 4u + i) * 32u;  // bits
      if (before >= left * T_BITS) continue;
      const uint bits = left * T_BITS - before;
      // Elements behind the last one are kept.
      const uint kept = bits >= 32u ? 0u : ~((1u << bits) - 1u);
      y[at][i] = kept == 0u ? result[i] : result[i] & ~kept | y[at][i] & kept;
    }
  }
}
