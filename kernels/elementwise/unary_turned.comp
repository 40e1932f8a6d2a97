#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "common/activation.glsl"
#include "elementwise/unary_apply.glsl"
#include "elementwise/blocks.glsl"

BLOCK_IN(x)
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { FOUR y[]; };

uint applyBits(uint v) { return floatBitsToUint(apply(fromRaw(v))); }

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = blockPlaces(item);
  Block v = load_x(at.x, push.xStep, false, true);
  uint to = at.y;
  EACH_ROW {
    uvec4 result = v.row[OWN_ROW];
#if DIMPLE_COMPACT
    [[dont_unroll]] for (uint i = 0u; i < 4u; ++i)
      result = uvec4(turned(result.y), turned(result.z), turned(result.w), turned(applyBits(result.x)));
#else
    result = uvec4(applyBits(result.x), applyBits(result.y), applyBits(result.z), applyBits(result.w));
#endif
    y[to] = vectorOfFloats(uintBitsToFloat(result));
    to = SUMMED_INDEX(to + push.yStep);
    passRow(v);
  }
}
