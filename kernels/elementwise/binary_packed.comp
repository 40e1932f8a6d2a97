#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// uniformMask: bit k set where operand k is one element that every position reads, of rows every position of a vector.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "common/packed.glsl"
#include "elementwise/row_places.glsl"
#include "elementwise/binary_apply.glsl"

PACKED_IN(a)
PACKED_IN(b)
PACKED_OUT(y)

#if T_BITS == 64
uvec2 applyPair(uvec2 v, uvec2 w) { return toRaw(apply(fromRaw(v), fromRaw(w))); }
#else
#if T == f16
#define LANE_VALUE(word, lane) unpackHalf2x16(word)[lane]
#else
#define LANE_VALUE(word, lane) fromRaw(LANE(word, lane))
#endif
uvec4 applyAll(uvec4 v, uvec4 w) {
  COMPUTE values[4u * PACKED_LANES];
  [[unroll]] for (uint e = 0u; e < 4u * PACKED_LANES; ++e)
    values[e] = applyFunction(LANE_VALUE(v[e / PACKED_LANES], e % PACKED_LANES),
                              LANE_VALUE(w[e / PACKED_LANES], e % PACKED_LANES));
#if T_IS_FLOAT
  ACTIVATE_EACH(values, 4u * PACKED_LANES, fusedParameters())
#endif
  uvec4 result = uvec4(0u);
#if T == f16
  [[unroll]] for (uint word = 0u; word < 4u; ++word)
    result[word] = halvesFromPair(vec2(values[word * 2u], values[word * 2u + 1u]));
#else
  [[unroll]] for (uint e = 0u; e < 4u * PACKED_LANES; ++e)
    result[e / PACKED_LANES] |= LANE_BITS(toRaw(values[e]), e % PACKED_LANES);
#endif
  return result;
}
#endif

bool isUniform(uint operand) { return (push.uniformMask >> operand & 1u) != 0u; }

void main() {
  uint item;
  if (!gridItem(packedItems(push.count), item)) return;
  const uint words = wholeWords(push.count);
#if T_BITS == 64
  const uvec2 a0 = isUniform(0u) ? FIRST_HALF(a, 0u) : FIRST_HALF(a, item);
  const uvec2 b0 = isUniform(1u) ? FIRST_HALF(b, 0u) : FIRST_HALF(b, item);
  if (item * 4u + 4u <= words) {
    const uvec2 a1 = isUniform(0u) ? a0 : a[item].zw;
    const uvec2 b1 = isUniform(1u) ? b0 : b[item].zw;
    y[item] = uvec4(applyPair(a0, b0), applyPair(a1, b1));
  } else {
    const uvec2 last = applyPair(a0, b0);
    y[item].x = last.x;
    y[item].y = last.y;
  }
#else
  const uvec4 at = ROW_VECTORS(item);
  const uint mask = tailMask(push.count);
  const uint used = min(words + (mask != 0u ? 1u : 0u) - item * 4u, 4u);
  const bool isWhole = item * 4u + 4u <= words;
#if ROWS
  const uvec4 v = ROW_OPERAND(a, 0u, at.x);
  const uvec4 w = ROW_OPERAND(b, 1u, at.y);
#else
  uvec4 v, w;
  if (isUniform(0u)) {
    v = uvec4(splatWord(BITS_OF(a, STANDING(at.x))));
  } else {
    LOAD_VECTOR(v, a, at.x, isWhole, used)
  }
  if (isUniform(1u)) {
    w = uvec4(splatWord(BITS_OF(b, STANDING(at.y))));
  } else {
    LOAD_VECTOR(w, b, at.y, isWhole, used)
  }
#endif
  const uvec4 result = applyAll(v, w);
  STORE_VECTOR(y, at.z, isWhole, used, words, mask, result)
#endif
}
