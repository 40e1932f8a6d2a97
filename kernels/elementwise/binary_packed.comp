#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// uniformMask: bit k set where operand k is one element that every position reads.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "common/packed.glsl"
#include "elementwise/binary_apply.glsl"

PACKED_IN(a)
PACKED_IN(b)
PACKED_OUT(y)

#if T_BITS == 64
uvec2 applyPair(uvec2 v, uvec2 w) { return toRaw(apply(fromRaw(v), fromRaw(w))); }
#else
uint applyWord(uint v, uint w) {
  uint result = 0u;
  [[unroll]] for (uint lane = 0u; lane < PACKED_LANES; ++lane)
    result |= LANE_BITS(toRaw(apply(fromRaw(LANE(v, lane)), fromRaw(LANE(w, lane)))), lane);
  return result;
}

uint splat(uint word) {
  uint result = 0u;
  [[unroll]] for (uint lane = 0u; lane < PACKED_LANES; ++lane) result |= LANE_BITS(word, lane);
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
  if (item * 4u + 4u <= words) {
    const uvec4 v = isUniform(0u) ? uvec4(splat(a[0].x)) : a[item];
    const uvec4 w = isUniform(1u) ? uvec4(splat(b[0].x)) : b[item];
    y[item] = uvec4(applyWord(v.x, w.x), applyWord(v.y, w.y), applyWord(v.z, w.z), applyWord(v.w, w.w));
    return;
  }
  const uint mask = tailMask(push.count);
  for (uint word = item * 4u; word < words + (mask != 0u ? 1u : 0u); ++word) {
    const uint component = word & 3u;
    const uint v = isUniform(0u) ? splat(a[0].x) : a[item][component];
    const uint w = isUniform(1u) ? splat(b[0].x) : b[item][component];
    const uint kept = word < words ? 0u : ~mask;
    // The word is read only where it holds bytes to keep.
    y[item][component] = applyWord(v, w) & ~kept | (kept != 0u ? y[item][component] & kept : 0u);
  }
#endif
}
