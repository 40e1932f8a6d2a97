// What kernels of rows in vectors have in common.
//   parts   as in normalize_row.comp, and 64: scale, 128: bias, that change along a row; 256: the sum of squares in the
//           place of the variance
#include "common/packed.glsl"
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/activation.glsl"
#include "common/rows.glsl"

PACKED_IN(x)
PACKED_IN(scale)
PACKED_IN(bias)
PACKED_OUT(y)
#include "common/cast_rows.glsl"

bool has(uint part) { return (PARTS & part) != 0u; }

// The row's first elements (operands: input, output, scale, bias).
uvec4 firstElements(uint row) { return walkOffsets(0u, push.keptRank, row); }

float fused(float v) { return activate(FUSED, v, vec2(uintBitsToFloat(push.alpha), uintBitsToFloat(push.beta))); }

// What a row's elements are multiplied by and get added.
struct Moments {
  float mean;
  float factor;
};

// `square` is the sum of squares. The root is no denormal, and neither is its reciprocal.
Moments momentsOf(float mean, float square) {
  const float share = has(256u) ? square : square / float(push.elements);
  const float variance = isNan(share) || share >= 0.0 ? share : 0.0;
  return Moments(mean, has(32u) ? 1.0 / sqrt(variance + uintBitsToFloat(push.epsilon)) : 1.0);
}

// Scale and bias of a row that are the same for all of its elements, or 1 and 0.
vec2 sharedOf(uvec4 first) {
  vec2 factors = vec2(1.0, 0.0);
  if (has(2u) && !has(64u)) factors.x = SINGLE(scale, first.z);
  if (has(4u) && !has(128u)) factors.y = SINGLE(bias, first.w);
  return factors;
}

#if CASTS
layout(set = 0, binding = BINDING_scale, std430) readonly buffer scaleHalvesBuffer { uvec2 scaleHalves[]; };
// FACTOR_HALVES: the scale is FLOAT16, and multiplies what has been rounded to FLOAT16. The zero, of which compilers do
// not know, keeps the rounding: NVIDIA's leaves out conversions there and back.
vec4 scaledHalves(vec4 v, uvec4 first, uint at) {
  const uvec2 halves = halvesFromFloats(v) ^ (push.keptRank >> 16);
  const uvec2 factor = scaleHalves[first.z / 4u + at];
  return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y)) *
         vec4(unpackHalf2x16(factor.x), unpackHalf2x16(factor.y));
}
const bool kScalesHalves = FACTOR_HALVES != 0u;
#else
#define scaledHalves(v, first, at) v
const bool kScalesHalves = false;
#endif

// What lies along a row beside vector `at` of it: vectors of the scale and the bias.
struct Along {
  uvec4 scale1;
  uvec4 bias1;
};
Along alongOf(uvec4 first, uint at) {
  Along along = Along(uvec4(0u), uvec4(0u));
  if (has(64u) && !kScalesHalves) along.scale1 = scale[first.z / kVectorElements + at];
  if (has(128u)) along.bias1 = bias[first.w / kVectorElements + at];
  return along;
}

// Four results, but for the activation, from differences to the mean times the factor.
vec4 finishFour(vec4 v, Along along, uint four, vec2 factors) {
  if (kScalesHalves) return v;
  if (has(2u)) v *= has(64u) ? fourOf(along.scale1, four) : vec4(factors.x);
  if (has(4u)) v += has(128u) ? fourOf(along.bias1, four) : vec4(factors.y);
  return v;
}
