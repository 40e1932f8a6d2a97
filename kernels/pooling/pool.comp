#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Averages, p-norms and maxima of the windows at each of `count` output positions: a workgroup's with ROW, an
// invocation's without. Parameters: two for each of five output dimensions, the innermost first,
//   {size and its divisor}   {input stride, output stride, index stride, step of the input's row-major index}
// where the spatial dimensions have no input stride and step, but three more parameters each:
//   {window stride, dilation, window size, start padding}   {input size, input stride, step of the index, 0}
//   power        of LP_POOLING
//   repeats      FLOAT32: how often each element counts there
//   divisor      FLOAT32: of averages; 0 stands for the number of elements under the window
//   indexWords   of an index of a maximum; 0: none wanted
//   writesValue  0: only the index is wanted, and kNoIndex where there is none
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#if T_IS_FLOAT
#include "common/pow.glsl"
#endif
#include "pooling/window.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)
layout(set = 0, binding = BINDING_indices, std430) buffer indicesBuffer { uint indices[]; };

// value: the running result. extra: of a maximum its index, kNoIndex if there is none; of a general p-norm the FLOAT32
// sum of powers relative to `value`, the largest magnitude, so that none overflows.
struct Accumulator {
  COMPUTE value;
  uint extra;
};
const uint kNoIndex = 0xffffffffu;

#if T_IS_FLOAT
float wideFromRaw(uint raw) { return uintBitsToFloat(raw); }
uint wideToRaw(float v) { return floatBitsToUint(v); }
bool isNothing(float v) { return isNan(v); }
int compareKey(float v) { return numericKey(v); }
#define LOWEST uintBitsToFloat(0xff800000u)
#else
COMPUTE wideFromRaw(RAW raw) { return fromRaw(raw); }
RAW wideToRaw(COMPUTE v) { return toRaw(v); }
bool isNothing(COMPUTE v) { return false; }
COMPUTE compareKey(COMPUTE v) { return v; }
#if T_BITS == 64
#if T_IS_SIGNED
#define LOWEST fromRaw(uvec2(0u, 0x80000000u))
#else
#define LOWEST fromRaw(uvec2(0u))
#endif
#elif T_IS_SIGNED
#define LOWEST (-1 - int(T_MASK >> 1))
#else
#define LOWEST 0u
#endif
#endif

// NaN loses against a number; the first of equal elements wins.
Accumulator larger(Accumulator a, Accumulator b) {
  if (a.extra == kNoIndex) return b;
  if (b.extra == kNoIndex) return a;
  const bool firstIsA = a.extra < b.extra;
  if (isNothing(a.value) || isNothing(b.value)) {
    if (isNothing(a.value) && isNothing(b.value)) return firstIsA ? a : b;
    return isNothing(a.value) ? b : a;
  }
  if (compareKey(a.value) == compareKey(b.value)) return firstIsA ? a : b;
  return compareKey(a.value) > compareKey(b.value) ? a : b;
}

#if T_IS_FLOAT
// (t / top)^power for 0 <= t <= top.
float relativePower(float t, float top) {
  if (t == top) return 1.0;
  // A quotient may be a product with the reciprocal, which must not be denormal.
  const float scale = top > 1e30 ? exp2Int(-64) : 1.0;
  float base = (t * scale) / (top * scale);
  float result = 1.0;
  for (uint power = push.power; power != 0u; power >>= 1) {
    if ((power & 1u) != 0u) result *= base;
    base *= base;
  }
  return result;
}

Accumulator addPowers(Accumulator a, Accumulator b) {
  const float top = maxNum(a.value, b.value);
  const float sumA = uintBitsToFloat(a.extra) * relativePower(a.value, top);
  const float sumB = uintBitsToFloat(b.extra) * relativePower(b.value, top);
  return Accumulator(top, floatBitsToUint(sumA + sumB));
}

Accumulator fromElement(float v, uint index) {
  if (FUNCTION == DML_OPERATOR_MAX_POOLING) return Accumulator(v, index);
  if (FUNCTION == DML_OPERATOR_AVERAGE_POOLING) return Accumulator(v, 0u);
  if (push.power == 1u) return Accumulator(abs(v), 0u);
  if (push.power == 2u) return Accumulator(v * v, 0u);
  if (isNan(v)) return Accumulator(0.0, floatBitsToUint(v));
  return Accumulator(abs(v), floatBitsToUint(1.0));
}

Accumulator combine(Accumulator a, Accumulator b) {
  if (FUNCTION == DML_OPERATOR_MAX_POOLING) return larger(a, b);
  if (FUNCTION == DML_OPERATOR_LP_POOLING && (push.power == 0u || push.power > 2u)) return addPowers(a, b);
  return Accumulator(a.value + b.value, 0u);
}

float finish(Accumulator a, uint total) {
  if (FUNCTION == DML_OPERATOR_MAX_POOLING) return a.extra == kNoIndex ? LOWEST : a.value;
  if (FUNCTION == DML_OPERATOR_AVERAGE_POOLING) {
    const float divisor = uintBitsToFloat(push.divisor);
    return a.value / (divisor == 0.0 ? float(total) : divisor);
  }
  const float repeats = uintBitsToFloat(push.repeats);
  if (push.power == 1u) return a.value * repeats;
  if (push.power == 2u) return sqrt(a.value * repeats);
  const float sum = uintBitsToFloat(a.extra) * repeats;
  if (isNan(sum)) return sum;
  if (a.value == 0.0 || a.value == INFINITY) return a.value;
  return a.value * powAccurate(sum, 1.0 / float(push.power));
}
#else
Accumulator fromElement(COMPUTE v, uint index) { return Accumulator(v, index); }
Accumulator combine(Accumulator a, Accumulator b) { return larger(a, b); }
COMPUTE finish(Accumulator a, uint total) { return a.extra == kNoIndex ? LOWEST : a.value; }
#endif

// The values are stored as RAW, because libvkd3d has no 64-bit integers in shared memory.
shared RAW sharedValue[256];
shared uint sharedExtra[256];

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint item = ROW != 0u ? group : group * gl_WorkGroupSize.x + lane;
  if (ROW == 0u && item >= push.count) return;

  uint rest = item;
  uvec4 at = uvec4(0u);
  uvec3 box = uvec3(0u);
  uvec3 steps = uvec3(0u);
  uvec3 indexSteps = uvec3(0u);
  for (uint d = 0u; d < 5u; ++d) {
    const uvec4 size = parameters[2u * d];
    const uint quotient = d < 4u ? divideBy(rest, size) : 0u;
    const uint coordinate = rest - quotient * size.x;
    rest = quotient;
    at += coordinate * parameters[2u * d + 1u];
    if (d > 2u) continue;
    const uvec4 dilation = parameters[10u + 2u * d];
    const uvec4 source = parameters[11u + 2u * d];
    uint first;
    uint covered;
    windowCoverage(coordinate, dilation, source.x, first, covered);
    box[d] = covered;
    at.x += first * source.y;
    at.w += first * source.z;
    steps[d] = dilation.y * source.y;
    indexSteps[d] = dilation.y * source.z;
  }
  const uint total = box.x * box.y * box.z;
  const uint begin = ROW != 0u ? lane : 0u;
  const uint step1 = ROW != 0u ? gl_WorkGroupSize.x : 1u;
  // One step is one along the line, whatever the box, as boxAdvance() carries it.
  uvec3 place = ROW != 0u ? boxDigits(begin, box) : uvec3(0u);
  const uvec3 advance = ROW != 0u ? boxDigits(step1, box) : uvec3(1u, 0u, 0u);

  Accumulator a = Accumulator(COMPUTE(0), FUNCTION == DML_OPERATOR_MAX_POOLING ? kNoIndex : 0u);
  for (uint left = stepsFrom(begin, step1, total); left != 0u; --left) {
    const uvec3 offsets = place * steps;
    const uvec3 moved = place * indexSteps;
    const COMPUTE v = fromRaw(loadRaw_x(at.x + offsets.x + offsets.y + offsets.z));
    a = combine(a, fromElement(v, at.w + moved.x + moved.y + moved.z));
    place = boxAdvance(place, advance, box);
  }
  if (ROW != 0u) {
    sharedValue[lane] = wideToRaw(a.value);
    sharedExtra[lane] = a.extra;
    for (uint half1 = gl_WorkGroupSize.x / 2u; half1 > 0u; half1 /= 2u) {
      barrier();
      if (lane < half1) {
        a = combine(a, Accumulator(wideFromRaw(sharedValue[lane + half1]), sharedExtra[lane + half1]));
        sharedValue[lane] = wideToRaw(a.value);
        sharedExtra[lane] = a.extra;
      }
    }
    if (lane != 0u) return;
  }
  if (push.writesValue != 0u) storeRaw_y(at.y, toRaw(finish(a, total)));
  if (push.indexWords != 0u) {
    indices[at.z * push.indexWords] = a.extra == kNoIndex && push.writesValue != 0u ? 0u : a.extra;
    if (push.indexWords == 2u) indices[at.z * 2u + 1u] = 0u;
  }
}
