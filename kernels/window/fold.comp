#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// Each of `count` elements of the image is the sum of the columns' elements that lie over it: a workgroup's with ROW,
// an invocation's without. Parameters: two for each dimension of the image, the innermost first,
//   {size and its divisor}   {output stride, input stride of a channel or batch, 0, 0}
// and at parameters[windowAt] three for each of its `spatial` first dimensions,
//   {stride, dilation, size of the window, start padding}
//   {positions, stride / g, inverse of dilation / g modulo that, g}   with g, the divisor that both have in common
//   {input stride of a coordinate in the window, of a position, dilation / g, 0}
// T is unsigned for integers of either sign; b64 is FLOAT64 with REAL.
#include "common/grid.glsl"
#include "common/walk.glsl"
#if T == b64
#include "common/numbers.glsl"
#endif

TENSOR_IN(x)
TENSOR_OUT(y)

#if T == b64
// FLOAT64 numbers by integers, which every device has: rounded to nearest even.
uvec2 addDoubles(uvec2 bitsA, uvec2 bitsB) {
  Number a = decodeFloat(bitsA, kDouble);
  Number b = decodeFloat(bitsB, kDouble);
  if (a.isNan || b.isNan || (a.isInfinite && b.isInfinite && a.negative != b.negative)) return uvec2(0u, 0x7ff80000u);
  if (a.isInfinite) return bitsA;
  if (b.isInfinite) return bitsB;
  if (b.exponent > a.exponent || (b.exponent == a.exponent && less64(a.significand, b.significand))) {
    const Number swapped = a;
    a = b;
    b = swapped;
  }
  // Ten bits more; the last one stands for all that are shifted out.
  const uvec2 larger = shiftLeft(a.significand, 10);
  const uvec2 whole = shiftLeft(b.significand, 10);
  const int shift = a.exponent - b.exponent;
  const uvec2 smaller = shiftRight(whole, shift);
  const uint lost = shiftLeft(smaller, shift) == whole ? 0u : 1u;
  Number sum = a;
  sum.exponent = a.exponent - 10;
  if (a.negative == b.negative) {
    sum.significand = add64(larger, smaller);
  } else {
    sum.significand = add64(larger, negate64(add64(smaller, uvec2(lost, 0u))));
  }
  sum.significand.x |= lost;
  if (sum.significand == uvec2(0u)) sum.negative = a.negative && b.negative;
  return encodeFloat(sum, kDouble);
}
uvec2 plus(uvec2 a, uvec2 b) { return REAL != 0u ? addDoubles(a, b) : add64(a, b); }
#define ZERO uvec2(0u)
#define WIDE uvec2
uvec2 wideFromRaw(uvec2 v) { return v; }
uvec2 wideToRaw(uvec2 v) { return v; }
#elif T_IS_FLOAT
float plus(float a, float b) { return a + b; }
#define ZERO 0.0
#define WIDE float
float wideFromRaw(uint v) { return uintBitsToFloat(v); }
uint wideToRaw(float v) { return floatBitsToUint(v); }
#else
uint plus(uint a, uint b) { return a + b; }
#define ZERO 0u
#define WIDE uint
uint wideFromRaw(uint v) { return v; }
uint wideToRaw(uint v) { return v; }
#endif

shared RAW sharedSum[256];

// The elements over a coordinate in one dimension: the input offset of the first one, and the step to each of `hits`.
void hitsOver(uint coordinate, uint at, out uint first, out uint step1, out uint hits) {
  const uvec4 window = parameters[at];
  const uvec4 common1 = parameters[at + 1u];
  const uvec4 strides = parameters[at + 2u];
  const uint place = coordinate + window.w;
  const uint reach = (common1.x - 1u) * window.x;
  first = 0u;
  step1 = 0u;
  hits = 0u;
  // Without divisions what is usual: a stride and a dilation of 1.
  if (window.x == 1u && window.y == 1u) {
    const uint least = place > reach ? place - reach : 0u;
    const uint most = min(window.z - 1u, place);
    if (least > most) return;
    hits = most - least + 1u;
    first = least * strides.x + (place - least) * strides.y;
    step1 = strides.x - strides.y;
    return;
  }
  const uint position = place / window.x;
  if (window.y == 0u) {
    if (position * window.x != place || position >= common1.x) return;
    first = position * strides.y;
    step1 = strides.x;
    hits = window.z;
    return;
  }
  const uint reduced = place / common1.w;
  if (reduced * common1.w != place) return;
  // The smallest coordinate in the window that is over this one at some position, and at one that there is.
  uint k = reduced % common1.y * common1.z % common1.y;
  if (place > reach) {
    const uint least = (place - reach - 1u) / window.y + 1u;
    if (least > k) k += ((least - k - 1u) / common1.y + 1u) * common1.y;
  }
  const uint most = min(window.z - 1u, place / window.y);
  if (k > most) return;
  hits = (most - k) / common1.y + 1u;
  first = k * strides.x + (place - k * window.y) / window.x * strides.y;
  step1 = common1.y * strides.x - strides.z * strides.y;
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;

  uint steps[6];
  uint hits[6];
  uint rest = item;
  uint from = 0u;
  uint to = 0u;
  uint total = 1u;
  for (uint d = 0u; d < push.rank; ++d) {
    const uvec4 size = parameters[2u * d];
    const uvec4 strides = parameters[2u * d + 1u];
    const uint quotient = d + 1u < push.rank ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    rest = quotient;
    to += coordinate * strides.x;
    from += coordinate * strides.y;
    if (d >= push.spatial) continue;
    uint first;
    uint step1;
    uint found;
    hitsOver(coordinate, push.windowAt + 3u * d, first, step1, found);
    from += first;
    steps[d] = step1;
    hits[d] = found;
    total *= found;
  }

  const uint begin = ROW != 0u ? lane : 0u;
  const uint stride1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;
  WIDE sum = ZERO;
  if (ROW == 0u && push.spatial == 2u) {
    for (uint i = 0u; i < hits[1]; ++i)
      for (uint j = 0u; j < hits[0]; ++j) sum = plus(sum, fromRaw(loadRaw_x(from + i * steps[1] + j * steps[0])));
    storeRaw_y(to, toRaw(sum));
    return;
  }
  // Counted, since an index may pass 2^32.
  uint left = begin < total ? (total - 1u - begin) / stride1 + 1u : 0u;
  for (uint k = begin; left != 0u; --left, k += stride1) {
    uint remaining = k;
    uint offset = from;
    for (uint d = 0u; d < push.spatial; ++d) {
      const uint quotient = remaining / hits[d];
      offset += (remaining - quotient * hits[d]) * steps[d];
      remaining = quotient;
    }
    sum = plus(sum, fromRaw(loadRaw_x(offset)));
  }
  if (ROW != 0u) {
    sharedSum[lane] = wideToRaw(sum);
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        sum = plus(sum, wideFromRaw(sharedSum[lane + half1]));
        sharedSum[lane] = wideToRaw(sum);
      }
    }
    if (lane != 0u) return;
  }
  storeRaw_y(to, toRaw(sum));
}
