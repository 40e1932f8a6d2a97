#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// What reduce.comp does, of elements in vectors of 16 bytes: of those that are reduced with ROW, where `elements` and
// `chunkLength` count vectors and the walks step through vectors of the input; else of outputs that lie side by side,
// where `outputs` counts vectors and the walks step through vectors of the input and of outputs.
#include "common/fours.glsl"
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/walk.glsl"
#include "reduce/accumulator.glsl"

PACKED_IN(x)

const uint kLoads = 4u;  // under way at once

uint reducedOffset(uint l) {
  // One dimension needs no division.
  if (push.reducedRank <= 1u) return parameters[push.reducedAt].x + l * parameters[push.reducedAt + 2u].x;
  return walkOffsets(push.reducedAt, push.reducedRank, l).x;
}

// One exponential an element, as no pair of accumulators has.
Accumulator addExponentials(Accumulator a, float v[kLoads], uint count) {
  float top = a.value;
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) top = i < count ? maxNum(top, v[i]) : top;
  float sum = uintBitsToFloat(a.extra) * (a.value == top ? 1.0 : expAccurate(a.value - top));
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) if (i < count) sum += isNan(v[i])   ? v[i]
                                                                      : v[i] == top ? 1.0
                                                                                    : expAccurate(v[i] - top);
  return Accumulator(top, floatBitsToUint(sum));
}

Accumulator addElements(Accumulator a, float v[kLoads], uint index, uint step1, uint count) {
  if (kIsLogSumExp) return addExponentials(a, v, count);
  [[unroll]] for (uint i = 0u; i < kLoads; ++i) if (i < count) a = combine(a, fromElement(v[i], index + i * step1));
  return a;
}

void storeOutputs(uint first, Accumulator results[kVectorElements]) {
  if (kIsArg) {
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) storeIndex(first + e, results[e]);
    return;
  }
  vec4 fours[kFours];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) fours[e / 4u][e % 4u] = finish(results[e]);
  const uvec4 words = VECTOR_OF(fours, 0u);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) y[first * T_BITS / 32u + i] = words[i];
}

// Of one output, whose word others may share.
void storeOutput(uint at, Accumulator a) {
  if (kIsArg) {
    storeIndex(at, a);
    return;
  }
  const uint bits = toRaw(finish(a));
#if T_BITS == 32
  y[at] = bits;
#else
  const uint shift = at % PACKED_LANES * T_BITS;
  atomicAnd(y[at / PACKED_LANES], ~(T_MASK << shift));
  atomicOr(y[at / PACKED_LANES], (bits & T_MASK) << shift);
#endif
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const uint lane = gl_LocalInvocationID.x;
  const bool isRow = ROW != 0u;
  const uint task = isRow ? group : group * gl_WorkGroupSize.x + lane;
  if (!isRow && task >= push.outputs * push.chunks) return;
  // As in reduce.comp.
  const uint outputIndex = isRow ? task / push.chunks : task % push.outputs;
  const uint chunk = isRow ? task % push.chunks : task / push.outputs;
  const uvec4 kept = walkOffsets(0u, push.keptRank, outputIndex);
  const uint begin = chunk * push.chunkLength;
  const uint end = min(begin + push.chunkLength, push.elements);
  const uint step1 = isRow ? gl_WorkGroupSize.x : 1u;
  const uint indices = isRow ? kVectorElements : 1u;  // that an offset of 1 skips

  Accumulator a[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) a[e] = emptyAccumulator();
  for (uint k = begin + (isRow ? lane : 0u); k < end; k += kLoads * step1) {
    const uint count = min((end - 1u - k) / step1 + 1u, kLoads);
    uvec4 loaded[kLoads];
    [[unroll]] for (uint i = 0u; i < kLoads; ++i) loaded[i] = x[kept.x + reducedOffset(min(k + i * step1, end - 1u))];
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
      float v[kLoads];
      [[unroll]] for (uint i = 0u; i < kLoads; ++i) v[i] = fourOf(loaded[i], e / 4u)[e % 4u];
      const uint index = push.firstIndex + k * indices + (isRow ? e : 0u);
      a[e] = addElements(a[e], v, index, step1 * indices, count);
    }
  }
  const uint partial = push.firstPartial + chunk;
  if (isRow) {
    [[unroll]] for (uint e = 1u; e < kVectorElements; ++e) a[0] = combine(a[0], a[e]);
    a[0] = combineOfGroup(a[0]);
    if (lane != 0u) return;
    if (WRITES_PARTIALS != 0u)
      storePartial(outputIndex * push.partials + partial, a[0]);
    else
      storeOutput(kept.y, a[0]);
    return;
  }
  const uint first = outputIndex * kVectorElements;
  if (WRITES_PARTIALS == 0u) {
    storeOutputs(kept.y * kVectorElements, a);
    return;
  }
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) storePartial((first + e) * push.partials + partial, a[e]);
}
