#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#define PUSH_FIELDS uint count; uint rank; uint hasScaleBias; uint scale; uint bias; uint aLow; uint aHigh; uint bLow; uint bHigh;
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/activation.glsl"
#include "common/packed.glsl"
#include "elementwise/unary_functions.glsl"

PACKED_IN(x, 0)
PACKED_OUT(y, 1)

#if T_BITS == 64
uvec4 applyVector(uvec4 v) { return uvec4(toRaw(apply(fromRaw(v.xy))), toRaw(apply(fromRaw(v.zw)))); }
#else
uint applyWord(uint word) {
  uint result = 0u;
  [[unroll]] for (uint lane = 0u; lane < PACKED_LANES; ++lane)
    result |= LANE_BITS(toRaw(apply(fromRaw(LANE(word, lane)))), lane);
  return result;
}
uvec4 applyVector(uvec4 v) { return uvec4(applyWord(v.x), applyWord(v.y), applyWord(v.z), applyWord(v.w)); }
#endif

void main() {
  uint item;
  if (!gridItem(packedItems(push.count), item)) return;
  const uint words = wholeWords(push.count);
  if (item * 4u + 4u <= words) {
    y[item] = applyVector(x[item]);
    return;
  }
#if T_BITS == 64
  y[item].xy = toRaw(apply(fromRaw(x[item].xy)));
#else
  for (uint word = item * 4u; word < words; ++word) y[item][word & 3u] = applyWord(x[item][word & 3u]);
  const uint mask = tailMask(push.count);
  if (mask != 0u) {
    const uint component = words & 3u;
    y[item][component] = (y[item][component] & ~mask) | (applyWord(x[item][component]) & mask);
  }
#endif
}
