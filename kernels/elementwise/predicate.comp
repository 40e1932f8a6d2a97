#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// outBytes: width of the output's elements, 1 or 4. mode: a DML_IS_INFINITY_MODE.
#define PUSH_FIELDS uint count; uint rank; uint outBytes; uint mode;
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"

layout(constant_id = 0) const uint OP = 0;

TENSOR_IN(a, 0)
TENSOR_IN(b, 1)
layout(set = 0, binding = 2, std430) buffer yBuffer { uint y[]; };

uint ask(COMPUTE x, COMPUTE z) {
  bool answer = false;
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS: answer = isLessOrEqual(x, z) && isLessOrEqual(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN: answer = isLess(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL: answer = isLessOrEqual(z, x); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN: answer = isLess(x, z); break;
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL: answer = isLessOrEqual(x, z); break;
#if T_IS_FLOAT
    case DML_OPERATOR_ELEMENT_WISE_IS_NAN: return isNan(x) ? 1u : 0u;
    case DML_OPERATOR_ELEMENT_WISE_IS_INFINITY: {
      const uint bits = floatBitsToUint(x);
      return (bits == 0x7f800000u && push.mode != DML_IS_INFINITY_MODE_NEGATIVE) ||
                     (bits == 0xff800000u && push.mode != DML_IS_INFINITY_MODE_POSITIVE)
                 ? 1u
                 : 0u;
    }
#elif T_BITS == 64
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT: return uint(bitCount(toRaw(x).x) + bitCount(toRaw(x).y));
#else
    case DML_OPERATOR_ELEMENT_WISE_BIT_COUNT: return uint(bitCount(x));
#endif
  }
  return answer ? 1u : 0u;
}

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
