#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/activation.glsl"
#include "common/packed.glsl"
#include "elementwise/row_places.glsl"
#include "elementwise/unary_apply.glsl"

PACKED_IN(x)
PACKED_OUT(y)

#if T == f16
uint applyWord(uint word) {
  const vec2 pair = unpackHalf2x16(word);
  return halvesFromPair(vec2(apply(pair.x), apply(pair.y)));
}
#elif T_BITS < 64
uint applyWord(uint word) {
  uint result = 0u;
  [[unroll]] for (uint lane = 0u; lane < PACKED_LANES; ++lane)
    result |= LANE_BITS(toRaw(apply(fromRaw(LANE(word, lane)))), lane);
  return result;
}
#endif

void main() {
  uint item;
  if (!gridItem(packedItems(push.count), item)) return;
  const uint words = wholeWords(push.count);
#if T_BITS == 64
  if (item * 4u + 4u <= words) {
    const uvec4 v = x[item];
    y[item] = uvec4(toRaw(apply(fromRaw(v.xy))), toRaw(apply(fromRaw(v.zw))));
    return;
  }
  // By component: compilers merge a load of .xy with the one above, and a vector that is half outside loads as zeros.
  for (uint word = item * 4u; word < words; word += 2u) {
    const uint component = word & 3u;
    const uvec2 result = toRaw(apply(fromRaw(uvec2(x[item][component], x[item][component + 1u]))));
    y[item][component] = result.x;
    y[item][component + 1u] = result.y;
  }
#else
  const uvec4 at = ROW_VECTORS(item);
  const uint mask = tailMask(push.count);
  const uint used = min(words + (mask != 0u ? 1u : 0u) - item * 4u, 4u);
  const bool isWhole = item * 4u + 4u <= words;
  uvec4 v;
  LOAD_VECTOR(v, x, at.x, isWhole, used)
#if DIMPLE_COMPACT
  // One copy of the function.
  uvec4 result = v;
  [[dont_unroll]] for (uint i = 0u; i < 4u; ++i)
    result = uvec4(turned(result.y), turned(result.z), turned(result.w), turned(applyWord(result.x)));
#else
  const uvec4 result = uvec4(applyWord(v.x), applyWord(v.y), applyWord(v.z), applyWord(v.w));
#endif
  STORE_VECTOR(y, at.y, isWhole, used, words, mask, result)
#endif
}
