#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// Does what reduce.comp does, for elements in vectors of 16 bytes: for those that are reduced with ROW, where
// `elements` and `chunkLength` count vectors and the walks step through vectors of the input; else of outputs that lie
// side by side, where `outputs` counts vectors and the walks step through vectors of the input and of outputs.
#include "common/extremes.glsl"
#include "common/fours.glsl"
#include "common/grid.glsl"
#include "common/math.glsl"
#include "common/packed.glsl"
#include "common/powers.glsl"
#include "common/walk.glsl"
#include "reduce/accumulator.glsl"

PACKED_IN(x)

const uint kTerms = 4u;  // elements that are added at once
// Vectors under way at once: 16 elements of a row, or kTerms of each output.
const uint kRowLoads = 16u / kVectorElements;

uint reducedOffset(uint l) {
  // One dimension needs no division.
  if (push.reducedRank <= 1u) return parameters[push.reducedAt].x + l * parameters[push.reducedAt + 2u].x;
  return walkOffsets(push.reducedAt, push.reducedRank, l).x;
}

const bool kIsLeast = FUNCTION == DML_REDUCE_FUNCTION_MIN || FUNCTION == DML_REDUCE_FUNCTION_ARGMIN;
const bool kIsOrdered = kIsArg || FUNCTION == DML_REDUCE_FUNCTION_MIN || FUNCTION == DML_REDUCE_FUNCTION_MAX;
// FLOAT16 numbers are compared directly, since none of them is a denormal.
const bool kIsExtreme = T == f16 && kIsOrdered && !kIsArg;
const bool kIsProduct = FUNCTION == DML_REDUCE_FUNCTION_MULTIPLY;
const bool kIsSquare = FUNCTION == DML_REDUCE_FUNCTION_L2 || FUNCTION == DML_REDUCE_FUNCTION_SUM_SQUARE;
const int kLeastKey = -0x7fffffff - 1;

// An accumulator while elements are added to it. value: where an order decides but that of numbers themselves, the
// greatest key so far; else FLOAT32 bits.
struct Running {
  int value;
  uint extra;
};

// The greatest key is that of the element that is sought. NaN loses for MIN and MAX.
int keyOf(float v) {
  const int order = kIsArg ? numericKey(v) : orderKey(v);
  const int key = kIsLeast ? ~order : order;
  const bool loses = !kIsArg && isNan(v);
  return loses ? kLeastKey : key;
}

Running startOf() {
  const Accumulator empty = emptyAccumulator();
  if (kIsArg) return Running(kLeastKey, empty.extra);
  return Running(kIsOrdered && !kIsExtreme ? keyOf(empty.value) : floatBitsToInt(empty.value), empty.extra);
}

Accumulator accumulatorOf(Running a) {
  if (!kIsOrdered || kIsExtreme) return Accumulator(intBitsToFloat(a.value), a.extra);
  return Accumulator(valueOfKey(kIsLeast ? ~a.value : a.value), a.extra);
}

// This takes one exponential per element, which no pair of accumulators achieves. Where the greatest is infinite, so is
// the result, whatever the sum is but NaN.
Running addExponentials(Running a, float v[kTerms], uint count) {
  const float before = intBitsToFloat(a.value);
  float top = before;
  uint magnitude = 0u;
  [[unroll]] for (uint i = 0u; i < kTerms; ++i) {
    if (i >= count) v[i] = LOWEST;
    magnitude = max(magnitude, floatBitsToUint(v[i]) & 0x7fffffffu);
    top = max(top, v[i]);
  }
  if (magnitude > 0x7f800000u) return Running(a.value, magnitude);
  const float base = abs(top) == HIGHEST ? 0.0 : top;
  const vec4 powers = powersOf(min(vec4(v[0], v[1], v[2], v[3]) - base, 0.0));
  const float sum = uintBitsToFloat(a.extra) * powersOf(vec4(min(before - base, 0.0))).x;
  return Running(floatBitsToInt(top), floatBitsToUint(sum + ((powers.x + powers.y) + (powers.z + powers.w))));
}

// Elements of increasing indices. Without branches but those on the function, which DXIL has for every element.
Running addElements(Running a, float v[kTerms], uint index, uint step1, uint count) {
  if (kIsLogSumExp) return addExponentials(a, v, count);
  if (kIsExtreme) {
    float result = intBitsToFloat(a.value);
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) {
      const float term = i < count ? v[i] : kIsLeast ? HIGHEST : LOWEST;
      result = kIsLeast ? lesserNumber(result, term) : greaterNumber(result, term);
    }
    return Running(floatBitsToInt(result), 0u);
  }
  if (kIsOrdered && !kIsArg) {
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) a.value = max(a.value, i < count ? keyOf(v[i]) : kLeastKey);
    return a;
  }
  if (kIsArg) {
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) {
      const int key = keyOf(v[i]);
      const bool replaces =
          key > a.value || a.extra == kNoIndex || (key == a.value && push.preferLast != 0u);
      const bool isTaken = i < count && replaces;
      a.value = isTaken ? key : a.value;
      a.extra = isTaken ? index + i * step1 : a.extra;
    }
    return a;
  }
  float result = intBitsToFloat(a.value);
  [[unroll]] for (uint i = 0u; i < kTerms; ++i) {
    float term = kIsSquare ? v[i] * v[i] : FUNCTION == DML_REDUCE_FUNCTION_L1 ? abs(v[i]) : v[i];
    term = i < count ? term : kIsProduct ? 1.0 : 0.0;
    result = kIsProduct ? result * term : result + term;
  }
  return Running(floatBitsToInt(result), 0u);
}

#if T == f16
// Pairs of keys of 16 bits, which order two elements as numbers; zeros of both signs are equal.
uint pairOfKeys(uint word) {
  const uint magnitudes = word & 0x7fff7fffu;
  const uint negative = (magnitudes + 0x7fff7fffu) & word & 0x80008000u;
  const uint keys = magnitudes | negative;
  const uint order = keys ^ ((negative >> 15) * 0x7fffu);
  return kIsLeast ? ~order : order;
}

// The greatest key of elements of increasing positions, above the position, or its complement where the first of equal
// elements is wanted, of 16 bits.
int addPairs(int best, uvec4 vector, uint position) {
  const uint flip = push.preferLast != 0u ? 0u : 0xffffu;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint keys = pairOfKeys(vector[i]);
    best = max(best, int((keys << 16) | ((position + 2u * i) ^ flip)));
    best = max(best, int((keys & 0xffff0000u) | ((position + 2u * i + 1u) ^ flip)));
  }
  return best;
}

// The first or last of the greatest elements of a row's part that an invocation reads.
Accumulator argOfRow(uint first, uint begin, uint end) {
  const uint lane = laneOfRow();
  int best = kLeastKey;
  uint position = 0u;
  for (uint k = begin + lane; k < end; k += kRowLoads * ROW_LANES) {
    uvec4 loaded[kRowLoads];
    [[unroll]] for (uint i = 0u; i < kRowLoads; ++i) loaded[i] =
        x[first + reducedOffset(min(k + i * ROW_LANES, end - 1u))];
    [[unroll]] for (uint i = 0u; i < kRowLoads; ++i)
      if (k + i * ROW_LANES < end) best = addPairs(best, loaded[i], position + i * kVectorElements);
    position += kRowLoads * kVectorElements;
  }
  if (begin + lane >= end) return emptyAccumulator();
  const uint place = uint(best) & 0xffffu ^ (push.preferLast != 0u ? 0u : 0xffffu);
  const uint key = uint(kIsLeast ? ~best : best) >> 16;
  const uint vector = begin + lane + place / kVectorElements * ROW_LANES;
  return Accumulator(floatFromHalf(key ^ ((key >> 15) * 0x7fffu)),
                     push.firstIndex + vector * kVectorElements + place % kVectorElements);
}
#endif

// Of a row, whose elements go to four accumulators.
Accumulator combineAll(Accumulator a[kVectorElements]) {
  Accumulator all = a[0];
  [[unroll]] for (uint e = 1u; e < 4u; ++e) all = combine(all, a[e]);
  return all;
}

void storeOutputs(uint first, Accumulator results[kVectorElements]) {
  if (kIsArg) {
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) storeIndex(first + e, results[e]);
    return;
  }
  // This is a loop, so that the code that finishes a function exists once.
  float finished[kVectorElements];
  [[dont_unroll]] for (uint e = 0u; e < kVectorElements; ++e) finished[e] = finish(results[e]);
  if (kStoresWide) {
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) y[first + e] = wideToRaw(finished[e]);
    return;
  }
  vec4 fours[kFours];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) fours[e / 4u][e % 4u] = finished[e];
  const uvec4 words = VECTOR_OF(fours, 0u);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) y[first / PACKED_LANES + i] = words[i];
}

// Of one output, whose word others may share.
void storeOutput(uint at, Accumulator a) {
  if (kIsArg) {
    storeIndex(at, a);
    return;
  }
  const float result = finish(a);
  if (kStoresWide) {
    y[at] = wideToRaw(result);
    return;
  }
  const uint bits = toRaw(result);
#if T_BITS == 32
  y[at] = bits;
#else
  const uint shift = at % PACKED_LANES * T_BITS;
  atomicAnd(y[at / PACKED_LANES], ~(T_MASK << shift));
  atomicOr(y[at / PACKED_LANES], (bits & T_MASK) << shift);
#endif
}

// What the invocations of a row have of it.
void storeRow(bool isStored, uint at, uint partial, Accumulator a) {
  const Accumulator all = combineOfRow(a);
  if (laneOfRow() != 0u || !isStored) return;
  if (WRITES_PARTIALS != 0u)
    storePartial(partial, all);
  else
    storeOutput(at, all);
}

void main() {
  const uint group = groupIndex();
  if (group >= push.groups) return;
  const bool isRow = ROW != 0u;
  const uint lane = isRow ? laneOfRow() : gl_LocalInvocationID.x;
  // As in reduce.comp.
  const uint tasks = push.outputs * push.chunks;
  const uint given = isRow ? group * rowsOfGroup() + gl_LocalInvocationID.x / ROW_LANES
                           : group * gl_WorkGroupSize.x + lane;
  if (!isRow && given >= tasks) return;
  const uint task = min(given, tasks - 1u);
  const uint outputIndex = isRow ? task / push.chunks : task % push.outputs;
  const uint chunk = isRow ? task % push.chunks : task / push.outputs;
  const uvec4 kept = walkOffsets(0u, push.keptRank, outputIndex);
  const uint begin = chunk * push.chunkLength;
  const uint end = min(begin + push.chunkLength, push.elements);
  const uint step1 = isRow ? ROW_LANES : 1u;
  const uint indices = isRow ? kVectorElements : 1u;  // that an offset of 1 skips

  const uint partial = push.firstPartial + chunk;
#if T == f16
  if (kIsArg && isRow) {
    storeRow(given < tasks, kept.y, outputIndex * push.partials + partial, argOfRow(kept.x, begin, end));
    return;
  }
#endif
  // Of FLOAT16 in a row, both halves of a vector go to the same four, all that combineAll() takes.
  const uint folds = isRow ? kFours : 1u;
  const uint loads = isRow ? kRowLoads : kTerms;
  Running running[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) running[e] = startOf();
  for (uint k = begin + (isRow ? lane : 0u); k < end; k += loads * step1) {
    const uint count = min((end - 1u - k) / step1 + 1u, loads);
    uvec4 loaded[kTerms];
    [[unroll]] for (uint i = 0u; i < kTerms; ++i)
      if (i < loads) loaded[i] = x[kept.x + reducedOffset(min(k + i * step1, end - 1u))];
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
      if (e * folds >= kVectorElements) break;
      float v[kTerms];
      [[unroll]] for (uint i = 0u; i < kTerms; ++i)
        v[i] = folds == 2u ? fourOf(loaded[i / 2u], i % 2u)[e % 4u] : fourOf(loaded[i], e / 4u)[e % 4u];
      const uint index = push.firstIndex + k * indices + (isRow ? e : 0u);
      running[e] = addElements(running[e], v, index, step1 * indices, count * folds);
    }
  }
  Accumulator a[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) a[e] = accumulatorOf(running[e]);
  if (isRow) {
    storeRow(given < tasks, kept.y, outputIndex * push.partials + partial, combineAll(a));
    return;
  }
  const uint first = outputIndex * kVectorElements;
  if (WRITES_PARTIALS == 0u) {
    storeOutputs(kept.y * kVectorElements, a);
    return;
  }
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) storePartial((first + e) * push.partials + partial, a[e]);
}
