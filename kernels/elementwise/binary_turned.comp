#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#define FUSED 0u
#include "elementwise/binary_apply.glsl"
#include "elementwise/blocks.glsl"

BLOCK_IN(a)
BLOCK_IN(b)
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { FOUR y[]; };

bool hasBit(uint mask, uint operand) { return (mask >> operand & 1u) != 0u; }

float applied(uint v, uint w) { return apply(fromRaw(v), fromRaw(w)); }

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = blockPlaces(item);
  Block v = load_a(at.x, push.aStep, hasBit(push.uniformMask, 0u), hasBit(push.turnedMask, 0u));
  Block w = load_b(at.y, push.bStep, hasBit(push.uniformMask, 1u), hasBit(push.turnedMask, 1u));
  uint to = at.z;
  EACH_ROW {
    const uvec4 p = v.row[OWN_ROW];
    const uvec4 q = w.row[OWN_ROW];
    y[to] = vectorOfFloats(vec4(applied(p.x, q.x), applied(p.y, q.y), applied(p.z, q.z), applied(p.w, q.w)));
    to = SUMMED_INDEX(to + push.yStep);
    passRow(v);
    passRow(w);
  }
}
