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

const uint kTerms = 4u;  // vectors that are loaded, and elements that are added, at once
const uint kRowFours = kTerms * kFours;

// The vectors of a row's or column's part from number k on, `step` apart, and the last one in the place of those behind
// the end. All places come before the first load, so that loads do not wait for each other.
uvec4[kTerms] vectorsFrom(uint first, uint k, uint step, uint end) {
  uint places[kTerms];
  if (push.reducedRank <= 1u) {
    // One dimension needs no division.
    const uint begin = first + parameters[push.reducedAt].x;
    const uint stride = parameters[push.reducedAt + 2u].x;
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) places[i] = begin + min(k + i * step, end - 1u) * stride;
  } else {
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) places[i] =
        first + walkOffsets(push.reducedAt, push.reducedRank, min(k + i * step, end - 1u)).x;
  }
  uvec4 vectors[kTerms];
  [[unroll]] for (uint i = 0u; i < kTerms; ++i) vectors[i] = x[places[i]];
  return vectors;
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
#define ADD_EXPONENTIALS(NAME, FOURS)                                                                             \
  Running NAME(Running a, vec4 fours[FOURS]) {                                                                    \
    const float before = intBitsToFloat(a.value);                                                                 \
    uvec4 magnitudes = uvec4(0u);                                                                                 \
    vec4 tops = vec4(before);                                                                                     \
    [[unroll]] for (uint i = 0u; i < FOURS; ++i) {                                                                \
      magnitudes = max(magnitudes, floatBitsToUint(fours[i]) & 0x7fffffffu);                                      \
      tops = max(tops, fours[i]);                                                                                 \
    }                                                                                                             \
    const uint magnitude = max(max(magnitudes.x, magnitudes.y), max(magnitudes.z, magnitudes.w));                 \
    if (magnitude > 0x7f800000u) return Running(a.value, magnitude);                                              \
    const float top = max(max(tops.x, tops.y), max(tops.z, tops.w));                                              \
    const float base = abs(top) == HIGHEST ? 0.0 : top;                                                           \
    vec4 sums = vec4(uintBitsToFloat(a.extra) * powersOf(vec4(min(before - base, 0.0))).x, 0.0, 0.0, 0.0);        \
    [[unroll]] for (uint i = 0u; i < FOURS; ++i) sums += powersOf(min(fours[i] - base, 0.0));                     \
    return Running(floatBitsToInt(top), floatBitsToUint((sums.x + sums.y) + (sums.z + sums.w)));                  \
  }
ADD_EXPONENTIALS(addExponentials, 1u)
ADD_EXPONENTIALS(addExponentialsOfRow, kRowFours)

// Elements of increasing indices. Without branches but those on the function, which DXIL has for every element. What
// lies behind `count` repeats the last element, which changes no order.
Running addElements(Running a, float v[kTerms], uint index, uint count) {
  if (kIsLogSumExp) {
    vec4 fours[1];
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) fours[0][i] = i < count ? v[i] : LOWEST;
    return addExponentials(a, fours);
  }
  if (kIsExtreme) {
    float result = intBitsToFloat(a.value);
    [[unroll]] for (uint i = 0u; i < kTerms; ++i)
      result = kIsLeast ? lesserNumber(result, v[i]) : greaterNumber(result, v[i]);
    return Running(floatBitsToInt(result), 0u);
  }
  if (kIsOrdered && !kIsArg) {
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) a.value = max(a.value, keyOf(v[i]));
    return a;
  }
  if (kIsArg) {
    [[unroll]] for (uint i = 0u; i < kTerms; ++i) {
      const int key = keyOf(v[i]);
      const bool replaces =
          key > a.value || a.extra == kNoIndex || (key == a.value && push.preferLast != 0u);
      const bool isTaken = i < count && replaces;
      a.value = isTaken ? key : a.value;
      a.extra = isTaken ? index + i : a.extra;
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

// A key above a position of 16 bits, or above its complement where the first of equal elements is wanted.
uint flipOfPositions() { return push.preferLast != 0u ? 0u : 0xffffu; }
int lowPlace(uint keys, uint position) { return int((keys << 16) | position); }
int highPlace(uint keys, uint position) { return int((keys & 0xffff0000u) | position); }
uint positionOf(int place) { return uint(place) & 0xffffu ^ flipOfPositions(); }
float numberOf(int place) {
  const uint key = uint(kIsLeast ? ~place : place) >> 16;
  return floatFromHalf(key ^ ((key >> 15) * 0x7fffu));
}

// The first or last of the greatest elements of a row's part that an invocation reads.
Accumulator argOfRow(uint first, uint begin, uint end) {
  const uint lane = laneOfRow();
  const uint flip = flipOfPositions();
  int best = kLeastKey;
  uint position = 0u;
  for (uint k = begin + lane; k < end; k += kTerms * ROW_LANES) {
    const uvec4 loaded[kTerms] = vectorsFrom(first, k, ROW_LANES, end);
    [[unroll]] for (uint i = 0u; i < kTerms * 4u; ++i) {
      if (k + i / 4u * ROW_LANES >= end) break;
      const uint keys = pairOfKeys(loaded[i / 4u][i % 4u]);
      best = max(best, lowPlace(keys, (position + 2u * i) ^ flip));
      best = max(best, highPlace(keys, (position + 2u * i + 1u) ^ flip));
    }
    position += kTerms * kVectorElements;
  }
  if (begin + lane >= end) return emptyAccumulator();
  const uint place = positionOf(best);
  const uint vector = begin + lane + place / kVectorElements * ROW_LANES;
  return Accumulator(numberOf(best), push.firstIndex + vector * kVectorElements + place % kVectorElements);
}

// The same of each of the outputs in a vector.
void argsOfColumns(uint first, uint begin, uint end, out Accumulator results[kVectorElements]) {
  const uint flip = flipOfPositions();
  int best[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) best[e] = kLeastKey;
  uint position = 0u;
  for (uint k = begin; k < end; k += kTerms * push.chunks) {
    const uvec4 loaded[kTerms] = vectorsFrom(first, k, 1u, end);
    [[unroll]] for (uint i = 0u; i < kTerms * 4u; ++i) {
      const uint keys = pairOfKeys(loaded[i / 4u][i % 4u]);
      const uint at = (position + min(i / 4u, end - 1u - k)) ^ flip;
      best[i % 4u * 2u] = max(best[i % 4u * 2u], lowPlace(keys, at));
      best[i % 4u * 2u + 1u] = max(best[i % 4u * 2u + 1u], highPlace(keys, at));
    }
    position += kTerms;
  }
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
    const uint place = positionOf(best[e]);
    const uint k = begin + place / kTerms * kTerms * push.chunks + place % kTerms;
    results[e] = begin < end ? Accumulator(numberOf(best[e]), push.firstIndex + k) : emptyAccumulator();
  }
}
#else
// Orders elements as numbers; zeros of both signs are equal.
int numberKey(float v) {
  const int bits = floatBitsToInt(v);
  const int sign1 = bits >> 31;
  const int key = (bits ^ (sign1 & 0x7fffffff)) - sign1;
  return kIsLeast ? ~key : key;
}
float numberOf(int numberKey1) {
  const int key = kIsLeast ? ~numberKey1 : numberKey1;
  return intBitsToFloat(key < 0 ? -key | (-0x7fffffff - 1) : key);
}

// The first or last of the greatest elements of a row's part that an invocation reads: the greatest of those under way,
// and then which of them equal it.
Accumulator argOfRow(uint first, uint begin, uint end) {
  const uint kElements = kTerms * kVectorElements;
  int best = kLeastKey;
  uint index = kNoIndex;
  for (uint k = begin + laneOfRow(); k < end; k += kTerms * ROW_LANES) {
    const uvec4 loaded[kTerms] = vectorsFrom(first, k, ROW_LANES, end);
    int keys[kElements];
    int top = kLeastKey;
    [[unroll]] for (uint i = 0u; i < kElements; ++i) {
      keys[i] = numberKey(uintBitsToFloat(loaded[i / 4u][i % 4u]));
      top = max(top, keys[i]);
    }
    uint equal = 0u;
    [[unroll]] for (uint i = 0u; i < kElements; ++i) equal |= keys[i] == top ? 1u << i : 0u;
    const int place = push.preferLast != 0u ? findMSB(equal) : findLSB(equal);
    const bool replaces = top > best || index == kNoIndex || (top == best && push.preferLast != 0u);
    // Behind the end, the row's last vector is loaded again.
    const uint vector = min(k + uint(place) / 4u * ROW_LANES, end - 1u);
    index = replaces ? vector * kVectorElements + uint(place) % 4u : index;
    best = max(best, top);
  }
  if (index == kNoIndex) return emptyAccumulator();
  return Accumulator(numberOf(best), push.firstIndex + index);
}
#endif

// What an invocation reads of a row's part.
Accumulator reducedRow(uint first, uint begin, uint end) {
  if (kIsArg) return argOfRow(first, begin, end);
  // Elements of four accumulators, or of one.
  Running running[4];
  [[unroll]] for (uint e = 0u; e < 4u; ++e) running[e] = startOf();
  for (uint k = begin + laneOfRow(); k < end; k += kTerms * ROW_LANES) {
    const uint count = min((end - 1u - k) / ROW_LANES + 1u, kTerms);
    const uvec4 loaded[kTerms] = vectorsFrom(first, k, ROW_LANES, end);
    vec4 fours[kRowFours];
    [[unroll]] for (uint i = 0u; i < kRowFours; ++i) fours[i] = fourOf(loaded[i / kFours], i % kFours);
    if (kIsLogSumExp) {
      [[unroll]] for (uint i = 0u; i < kRowFours; ++i) fours[i] = i / kFours < count ? fours[i] : vec4(LOWEST);
      running[0] = addExponentialsOfRow(running[0], fours);
      continue;
    }
    [[unroll]] for (uint i = 0u; i < kRowFours; i += kTerms) {
      [[unroll]] for (uint e = 0u; e < 4u; ++e) {
        const float v[kTerms] = {fours[i][e], fours[i + 1u][e], fours[i + 2u][e], fours[i + 3u][e]};
        running[e] = addElements(running[e], v, 0u, max(count * kFours, i) - i);
      }
    }
  }
  Accumulator all = accumulatorOf(running[0]);
  if (kIsLogSumExp) return all;
  [[unroll]] for (uint e = 1u; e < 4u; ++e) all = combine(all, accumulatorOf(running[e]));
  return all;
}

// What an invocation reads of outputs in a vector. Chunks read elements in turn, so that all of them read one place of
// the memory at a time.
void reduceColumns(uint first, uint begin, uint end, out Accumulator results[kVectorElements]) {
#if T == f16
  if (kIsArg) {
    argsOfColumns(first, begin, end, results);
    return;
  }
#endif
  Running running[kVectorElements];
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) running[e] = startOf();
  for (uint k = begin; k < end; k += kTerms * push.chunks) {
    const uvec4 loaded[kTerms] = vectorsFrom(first, k, 1u, end);
    [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) {
      float v[kTerms];
      [[unroll]] for (uint i = 0u; i < kTerms; ++i) v[i] = fourOf(loaded[i], e / 4u)[e % 4u];
      running[e] = addElements(running[e], v, push.firstIndex + k, end - k);
    }
  }
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) results[e] = accumulatorOf(running[e]);
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
  const uint partial = push.firstPartial + chunk;
  if (isRow) {
    const uint begin = chunk * push.chunkLength;
    const Accumulator all = reducedRow(kept.x, begin, min(begin + push.chunkLength, push.elements));
    storeRow(given < tasks, kept.y, outputIndex * push.partials + partial, all);
    return;
  }
  Accumulator a[kVectorElements];
  reduceColumns(kept.x, chunk * kTerms, push.elements, a);
  const uint first = outputIndex * kVectorElements;
  if (WRITES_PARTIALS == 0u) {
    storeOutputs(kept.y * kVectorElements, a);
    return;
  }
  [[unroll]] for (uint e = 0u; e < kVectorElements; ++e) storePartial((first + e) * push.partials + partial, a[e]);
}
