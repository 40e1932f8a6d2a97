// Running results of reductions. Include after grid.glsl and math.glsl.

// value: the running result. extra: for ARGMIN and ARGMAX the index of value, kNoIndex if there is none; for
// LOG_SUM_EXP the float sum of exp(element - value).
struct Accumulator {
  COMPUTE value;
  uint extra;
};
const uint kNoIndex = 0xffffffffu;

const bool kIsArg = FUNCTION == DML_REDUCE_FUNCTION_ARGMIN || FUNCTION == DML_REDUCE_FUNCTION_ARGMAX;
const bool kIsLogSumExp = FUNCTION == DML_REDUCE_FUNCTION_LOG_SUM_EXP;

#if T_IS_FLOAT
#define LOWEST uintBitsToFloat(0xff800000u)
#define HIGHEST uintBitsToFloat(0x7f800000u)
int compareKey(float v) { return numericKey(v); }
#else
#if T_BITS == 64
#if T_IS_SIGNED
#define LOWEST fromRaw(uvec2(0u, 0x80000000u))
#define HIGHEST fromRaw(uvec2(0xffffffffu, 0x7fffffffu))
#else
#define LOWEST fromRaw(uvec2(0u))
#define HIGHEST fromRaw(uvec2(0xffffffffu))
#endif
#elif T_IS_SIGNED
#define LOWEST COMPUTE(-2147483647 - 1)
#define HIGHEST COMPUTE(2147483647)
#else
#define LOWEST COMPUTE(0)
#define HIGHEST COMPUTE(0xffffffffu)
#endif
COMPUTE compareKey(COMPUTE v) { return v; }
#endif

COMPUTE absolute(COMPUTE v) {
#if T_IS_FLOAT
  return abs(v);
#elif T_IS_SIGNED
  return v < COMPUTE(0) ? -v : v;
#else
  return v;
#endif
}

Accumulator emptyAccumulator() {
  switch (FUNCTION) {
    case DML_REDUCE_FUNCTION_MULTIPLY:
      return Accumulator(COMPUTE(1), 0u);
    case DML_REDUCE_FUNCTION_MIN:
      return Accumulator(HIGHEST, 0u);
    case DML_REDUCE_FUNCTION_MAX:
      return Accumulator(LOWEST, 0u);
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return Accumulator(LOWEST, 0u);
    case DML_REDUCE_FUNCTION_ARGMIN:
    case DML_REDUCE_FUNCTION_ARGMAX:
      return Accumulator(COMPUTE(0), kNoIndex);
    default:  // DXC refuses a switch without one where FUNCTION is a literal
      return Accumulator(COMPUTE(0), 0u);
  }
}

Accumulator fromElement(COMPUTE v, uint index) {
  switch (FUNCTION) {
    case DML_REDUCE_FUNCTION_L1:
      return Accumulator(absolute(v), 0u);
    case DML_REDUCE_FUNCTION_L2:
    case DML_REDUCE_FUNCTION_SUM_SQUARE:
      return Accumulator(v * v, 0u);
#if T_IS_FLOAT
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return Accumulator(v, floatBitsToUint(isNan(v) ? v : 1.0));
#endif
    case DML_REDUCE_FUNCTION_ARGMIN:
    case DML_REDUCE_FUNCTION_ARGMAX:
      return Accumulator(v, index);
    default:
      return Accumulator(v, 0u);
  }
}

#if T_IS_FLOAT
// Sums of exponentials relative to their maxima, so that none overflows.
Accumulator combineLogSumExp(Accumulator a, Accumulator b) {
  const bool isAbove = a.value > b.value;
  const float above = uintBitsToFloat(isAbove ? a.extra : b.extra);
  const float below = uintBitsToFloat(isAbove ? b.extra : a.extra);
  const float factor = a.value == b.value ? 1.0 : expOfNegative(-abs(a.value - b.value));
  return Accumulator(isAbove ? a.value : b.value, floatBitsToUint(above + below * factor));
}
#endif

Accumulator combineArg(Accumulator a, Accumulator b) {
  if (a.extra == kNoIndex) return b;
  if (b.extra == kNoIndex) return a;
  if (compareKey(a.value) == compareKey(b.value)) return (push.preferLast != 0u) == (a.extra > b.extra) ? a : b;
  const bool aIsLess = compareKey(a.value) < compareKey(b.value);
  return aIsLess == (FUNCTION == DML_REDUCE_FUNCTION_ARGMIN) ? a : b;
}

Accumulator combine(Accumulator a, Accumulator b) {
  switch (FUNCTION) {
    case DML_REDUCE_FUNCTION_MULTIPLY:
      return Accumulator(a.value * b.value, 0u);
    case DML_REDUCE_FUNCTION_MIN:
      return Accumulator(minNum(a.value, b.value), 0u);
    case DML_REDUCE_FUNCTION_MAX:
      return Accumulator(maxNum(a.value, b.value), 0u);
    case DML_REDUCE_FUNCTION_ARGMIN:
    case DML_REDUCE_FUNCTION_ARGMAX:
      return combineArg(a, b);
#if T_IS_FLOAT
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP:
      return combineLogSumExp(a, b);
#endif
    default:
      return Accumulator(a.value + b.value, 0u);
  }
}

COMPUTE finish(Accumulator a) {
#if T_IS_FLOAT
  switch (FUNCTION) {
    case DML_REDUCE_FUNCTION_AVERAGE:
      return a.value / float(push.divisor);
    case DML_REDUCE_FUNCTION_L2:
      return sqrt(a.value);
    case DML_REDUCE_FUNCTION_LOG_SUM:
      return logAccurate(a.value);
    case DML_REDUCE_FUNCTION_LOG_SUM_EXP: {
      const float sum = uintBitsToFloat(a.extra);
      if (isNan(sum)) return sum;
      return abs(a.value) == HIGHEST ? a.value : a.value + logAccurate(sum);
    }
    default:
      return a.value;
  }
#else
  return a.value;
#endif
}

// Accumulators travel as pairs of RAW, at full precision whatever T is.
#if T_IS_FLOAT
COMPUTE wideFromRaw(RAW raw) { return uintBitsToFloat(raw); }
RAW wideToRaw(COMPUTE v) { return floatBitsToUint(v); }
RAW extraToRaw(uint v) { return v; }
uint extraFromRaw(RAW v) { return v; }
#elif T_BITS == 64
COMPUTE wideFromRaw(RAW raw) { return fromRaw(raw); }
RAW wideToRaw(COMPUTE v) { return toRaw(v); }
RAW extraToRaw(uint v) { return uvec2(v, 0u); }
uint extraFromRaw(RAW v) { return v.x; }
#else
COMPUTE wideFromRaw(RAW raw) { return COMPUTE(raw); }
RAW wideToRaw(COMPUTE v) { return uint(v); }
RAW extraToRaw(uint v) { return v; }
uint extraFromRaw(RAW v) { return v; }
#endif

layout(set = 0, binding = BINDING_y, std430) buffer yBuffer { uint y[]; };

void storePartial(uint task, Accumulator a) {
#if T_BITS == 64
  const uvec4 words = uvec4(wideToRaw(a.value), extraToRaw(a.extra));
  for (uint k = 0u; k < 4u; ++k) y[task * 4u + k] = words[k];
#else
  y[task * 2u] = wideToRaw(a.value);
  y[task * 2u + 1u] = extraToRaw(a.extra);
#endif
}

// Whether results of FLOAT16 elements are FLOAT32, and lie so.
const bool kStoresWide = T == f16 && WIDE_RESULTS != 0u;

// Of an output whose result is an index.
void storeIndex(uint outputOffset, Accumulator a) {
  y[outputOffset * push.indexWords] = a.extra;
  if (push.indexWords == 2u) y[outputOffset * 2u + 1u] = 0u;
}

// ROW_LANES invocations share a row.
uint laneOfRow() { return gl_LocalInvocationID.x & (ROW_LANES - 1u); }
uint rowsOfGroup() { return gl_WorkGroupSize.x / ROW_LANES; }

// The values are stored as RAW, because libvkd3d has no 64-bit integers in shared memory.
shared RAW sharedValue[256];
shared uint sharedExtra[256];

#if T_IS_FLOAT
// NAME: what the invocations that share a row have together, in two steps: some have shares of it, each of which one
// invocation puts together.
#define OF_ROW(NAME, TYPE, TO_BITS, FROM_BITS, TOGETHER)                                             \
  TYPE NAME(TYPE v) {                                                                                \
    const uint kMostShares = 16u;                                                                    \
    const uint lane = laneOfRow();                                                                   \
    const uint first = gl_LocalInvocationID.x - lane;                                                \
    const uint shares = min(kMostShares, ROW_LANES);                                                 \
    sharedValue[first + lane] = TO_BITS(v);                                                          \
    barrier();                                                                                       \
    if (lane < shares) {                                                                             \
      for (uint i = lane + shares; i < ROW_LANES; i += shares) {                                     \
        const TYPE other = FROM_BITS(sharedValue[first + i]);                                        \
        v = TOGETHER;                                                                                \
      }                                                                                              \
      sharedExtra[first + lane] = TO_BITS(v);                                                        \
    }                                                                                                \
    barrier();                                                                                       \
    v = FROM_BITS(sharedExtra[first]);                                                               \
    for (uint i = 1u; i < shares; ++i) {                                                             \
      const TYPE other = FROM_BITS(sharedExtra[first + i]);                                          \
      v = TOGETHER;                                                                                  \
    }                                                                                                \
    return v;                                                                                        \
  }
OF_ROW(sumOfRow, float, floatBitsToUint, uintBitsToFloat, v + other)
OF_ROW(greatestOfRow, int, uint, int, max(v, other))
OF_ROW(greatestPlaceOfRow, uint, uint, uint, max(v, other))

// The greatest value of all, and the sum relative to it.
Accumulator combineLogSumExpOfRow(Accumulator a) {
  const float top = valueOfKey(greatestOfRow(orderKey(a.value)));
  // Not where both are infinite.
  const float factor = a.value == top ? 1.0 : expOfNegative(a.value - top);
  return Accumulator(top, floatBitsToUint(sumOfRow(uintBitsToFloat(a.extra) * factor)));
}

// The value that is sought of all, and then the first or last index of those who have it.
Accumulator combineArgOfRow(Accumulator a) {
  const bool isLeast = FUNCTION == DML_REDUCE_FUNCTION_ARGMIN;
  const int key = isLeast ? ~numericKey(a.value) : numericKey(a.value);
  const bool hasIndex = a.extra != kNoIndex;
  const int top = greatestOfRow(hasIndex ? key : -0x7fffffff - 1);
  const bool preferLast = push.preferLast != 0u;
  // One more than the index or its distance from the last, so that 0 is none.
  const uint place = hasIndex && key == top ? (preferLast ? a.extra + 1u : ~a.extra) : 0u;
  const uint best = greatestPlaceOfRow(place);
  return Accumulator(valueOfKey(isLeast ? ~top : top), preferLast ? best - 1u : ~best);
}
#endif

// Of the invocations that share a row, in the first one.
Accumulator combineOfRow(Accumulator a) {
#if T_IS_FLOAT
  if (kIsLogSumExp) return combineLogSumExpOfRow(a);
  if (kIsArg) return combineArgOfRow(a);
#endif
  const uint lane = gl_LocalInvocationID.x;
  sharedValue[lane] = wideToRaw(a.value);
  sharedExtra[lane] = a.extra;
  for (uint half1 = ROW_LANES / 2u; half1 > 0u; half1 /= 2u) {
    barrier();
    if (laneOfRow() < half1) {
      a = combine(a, Accumulator(wideFromRaw(sharedValue[lane + half1]), sharedExtra[lane + half1]));
      sharedValue[lane] = wideToRaw(a.value);
      sharedExtra[lane] = a.extra;
    }
  }
  return a;
}
