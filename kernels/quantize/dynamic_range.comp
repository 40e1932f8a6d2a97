#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// The least and the largest number of a tensor and 0: of a chunk a workgroup, as {least, largest}. With FINISHES one
// workgroup reduces the chunks and gives the scale and the zero point that spread this range over the integers of a
// type, which it is told in `type`. With VECTORS the walk is through vectors of 16 bytes, and a chunk is of these.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"

#ifdef VECTORS
#define FINISHES 0u
layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uvec4 x[]; };
#else
ANY_IN(x)
#endif
layout(set = 0, binding = BINDING_ranges, std430) buffer rangesBuffer { vec2 ranges[]; };
layout(set = 0, binding = BINDING_scale, std430) buffer scaleBuffer { float scale[]; };
ANY_OUT(zeroPoint)

shared vec2 found[256];

const uint kAhead = 8u;

vec2 widen(vec2 range, vec2 other) { return vec2(minNum(range.x, other.x), maxNum(range.y, other.y)); }

#ifdef VECTORS
vec2 widenByVector(vec2 range, uvec4 vector) {
  if (typeWidth(push.type) == 5u) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i) range = widen(range, vec2(uintBitsToFloat(vector[i])));
    return range;
  }
  // None of FLOAT16 is a denormal here.
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const vec2 pair = unpackHalf2x16(vector[i]);
    [[unroll]] for (uint j = 0u; j < 2u; ++j) {
      const float v = isNan(pair[j]) ? 0.0 : pair[j];
      range = vec2(min(range.x, v), max(range.y, v));
    }
  }
  return range;
}
#endif

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint me = gl_LocalInvocationID.x;
  vec2 range = vec2(0.0);
  const uint first = group * push.perGroup;
  const uint end = min(push.count - first, push.perGroup);
  for (uint i = me; i < end; i += 256u * kAhead) {
    // Elements that are loaded together; the last one stands for those behind it.
    [[unroll]] for (uint j = 0u; j < kAhead; ++j) {
      const uint at = first + min(i + 256u * j, end - 1u);
#ifdef VECTORS
      range = widenByVector(range, x[walkOffsets(0u, push.rank, at).x]);
#else
      if (FINISHES != 0u) {
        range = widen(range, ranges[at]);
      } else {
        range = widen(range, vec2(floatFrom(loadAny_x(walkOffsets(0u, push.rank, at).x, push.type), push.type)));
      }
#endif
    }
  }
  found[me] = range;
  for (uint half1 = 128u; half1 > 0u; half1 >>= 1) {
    barrier();
    if (me < half1) found[me] = widen(found[me], found[me + half1]);
  }
  if (me != 0u) return;
  range = found[0];
  if (FINISHES == 0u) {
    ranges[group] = range;
    return;
  }
#ifndef VECTORS
  const uint lowest = (push.type & kTypeSigned) != 0u ? uint(-128) : 0u;
  const float step1 = roundedQuotient(range.y - range.x, 255.0);
  scale[0] = step1;
  storeAny_zeroPoint(0u, push.type, quantized(roundedQuotient(-range.x, step1), lowest, push.type));
#endif
}
