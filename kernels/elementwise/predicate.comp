#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// outBytes: width of the output's elements, 1 or 4. mode: a DML_IS_INFINITY_MODE.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/halves.glsl"

#define ATTRIBUTES push
#include "elementwise/predicate_functions.glsl"

TENSOR_IN(a)
TENSOR_IN(b)
layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uint value = ask(fromRaw(loadRaw_a(at.x)), fromRaw(loadRaw_b(at.y)));
  if (push.outBytes == 4u) {
    y[at.z] = value;
  } else {
    // Only the element's own bits, so that stores to its neighbours commute.
    const uint shift = at.z % 4u * 8u;
    atomicAnd(y[at.z / 4u], ~(0xffu << shift) | value << shift);
    atomicOr(y[at.z / 4u], value << shift);
  }
}
