// FLOAT32 and FLOAT16 operands, summed in FLOAT32: y = activation(epilogue(alpha * sum + beta * c)).
//   flags   kToParts: sums are stored as they are, [matrix][slice][row][column]; kHasC; kWide: y holds FLOAT32 whatever
//           T is; kADepthFirst, kBDepthFirst: which of A's and B's dimensions neighbouring invocations read along;
//           kRowsFirst: parts are stored [matrix][slice][column][row]; kBringsWeights: see cooperative_ahead.comp
//   DIRECTIONS   kADepthFirst, kBDepthFirst, too, where it is defined; kStoresFours: fours of columns of what is stored
//           lie side by side, at multiples of four; kWhole, kUnrolled: see tile.glsl
//   EPILOGUE   steps that nodes of their own would do: kOfChannels normalize or scale each channel, the place of whose
//           parameters is C's; kAddend adds a tensor that lies as y does; kFromHalves: what steps, or a RELU, begin with
//           is rounded to FLOAT16 already, and multiplied by alpha; kInRegisters: such numbers do not pass through
//           shared memory, since it is known which invocation holds which (held.glsl); kUnscaled: alpha is 1; kSameLines:
//           C and channels are the same in all lines of results
#define SUM float
#define FOUR_SUMS vec4
#define ZERO uint
const uint kHasC = 1u;
const uint kWide = 2u;
const uint kADepthFirst = 4u;
const uint kBDepthFirst = 8u;
const uint kToParts = 16u;
const uint kStoresFours = 32u;
const uint kWhole = 64u;
const uint kUnrolled = 128u;
const uint kRowsFirst = 256u;
const uint kBringsWeights = 512u;

const uint kMean = 1u;
const uint kVariance = 2u;
const uint kFactor = 4u;
const uint kShift = 8u;
const uint kFactorRounded = 16u;  // before the shift
const uint kAddend = 32u;
const uint kLastFactor = 64u;
const uint kDivides = 128u;  // by the first factor
const uint kAddsC = 256u;    // C is the addend, at any strides, and all channels have the parameters of the first
const uint kFromHalves = 512u;
const uint kInRegisters = 1024u;
const uint kUnscaled = 2048u;
const uint kSameLines = 4096u;
const uint kOfChannels = kMean | kVariance | kFactor | kShift | kLastFactor;

#if PARTS
// Sums of parts of the depth, [matrix][part][row][column].
layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsBuffer { float parts[]; };
#if EIGHTS
layout(set = 0, binding = BINDING_parts, std430) readonly buffer partsFourBuffer { uvec4 partFours[]; };
#endif
#elif COOPERATIVE
// Each as vectors of 16 bytes, and as elements where some are read alone.
#if !ONLY_VECTORS
TENSOR_IN(a)
TENSOR_IN(b)
#endif
layout(set = 0, binding = BINDING_a, std430) readonly buffer aVectorBuffer { uvec4 aVectors[]; };
#if !INTEGER_WEIGHTS
layout(set = 0, binding = BINDING_b, std430) readonly buffer bVectorBuffer { uvec4 bVectors[]; };
#endif
#elif VECTOR
// So many elements, taken as FLOAT32 four at a time.
#if T == f16 && VECTOR == 8
#define ELEMENTS uvec4
vec4 floatsOf(uvec4 elements, uint four) {
  const uvec2 half1 = four == 0u ? elements.xy : elements.zw;
  return vec4(unpackHalf2x16(half1.x), unpackHalf2x16(half1.y));
}
#elif T == f16
#define ELEMENTS uvec2
vec4 floatsOf(uvec2 elements, uint four) { return vec4(unpackHalf2x16(elements.x), unpackHalf2x16(elements.y)); }
#else
#define ELEMENTS uvec4
vec4 floatsOf(uvec4 elements, uint four) { return uintBitsToFloat(elements); }
#endif
layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { ELEMENTS a[]; };
#if CONVOLUTION
TENSOR_IN(b)
float loadB(uint i, uint zero) { return fromRaw(loadRaw_b(i)); }
#elif !INTEGER_WEIGHTS
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { ELEMENTS b[]; };
#endif
#else
TENSOR_IN(a)
TENSOR_IN(b)
float loadA(uint i, uint zero) { return fromRaw(loadRaw_a(i)); }
float loadB(uint i, uint zero) { return fromRaw(loadRaw_b(i)); }
#endif
TENSOR_IN(c)
// Two of each channel: the mean, the variance, the factor and the shift, and another factor.
layout(set = 0, binding = BINDING_channels, std430) readonly buffer channelsBuffer { vec4 channels[]; };
TENSOR_IN(addend)
TENSOR_OUT(y)

uint zeroOfA(uint row) { return 0u; }
uint zeroOfB(uint column) { return 0u; }

#if EIGHTS
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yVectorBuffer { uvec4 yVectors[]; };
#endif
#if COOPERATIVE
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yPartBuffer { float yParts[]; };
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yVectorBuffer { uvec4 yVectors[]; };
layout(set = 0, binding = BINDING_addend, std430) readonly buffer addendVectorBuffer { uvec4 addendVectors[]; };
void storePart(uint i, float sum) { yParts[i] = sum; }

// ROWS_FIRST: results of neighbouring rows lie side by side, as channels do, or, kInVectors, in vectors of eight. With
// kInEvenVectors those of all columns lie as far apart from the next as those of the innermost dimension.
const uint kInVectors = 2u;
const uint kInEvenVectors = 3u;
#if !CONVOLUTION
const uint ROWS_FIRST = 0u;
#endif

// Of a sum among parts.
uint partPlace(uint part, uint row, uint column) {
  return ROWS_FIRST != 0u ? (part * push.columns + column) * push.rows + row
                          : (part * push.rows + row) * push.columns + column;
}
#elif T == f32 || !defined(NATIVE)
void storePart(uint i, float sum) { y[i] = floatBitsToUint(sum); }
#else
void storePart(uint i, float sum) {}  // 16-bit elements hold no sums
#endif

// 0, which no compiler can see: the flags end below these bits. A loop over so many more turns stays a loop, where
// NVIDIA's compiler unrolls others, whatever they ask for.
uint hiddenZero() { return push.flags >> 16u; }

// As a tensor of its type holds a number: a compiler keeps both conversions, and contracts nothing across them.
float rounded(float value) { return fromRaw(toRaw(value) ^ hiddenZero()); }
#if T == f16
vec2 rounded(vec2 pair) { return unpackHalf2x16(halvesFromPair(pair) ^ hiddenZero()); }
#else
vec2 rounded(vec2 pair) { return vec2(rounded(pair.x), rounded(pair.y)); }
#endif

bool hasAddend() { return (EPILOGUE & (kAddend | kAddsC)) == kAddend; }

// What is added at a place of y, if anything is that lies as y does.
float addendAt(uint i) { return hasAddend() ? fromRaw(loadRaw_addend(i)) : 0.0; }

// What the epilogue takes of a channel. With PAIRS, kernels finish results in pairs, which takes half the conversions, and
// load channels once for all lines of a strip (addends.glsl). Others load them where they are used: more code for each
// element keeps drivers from unrolling loops, and what these index lies in memory then.
float inverseDeviation(float variance) { return inversesqrt(variance + uintBitsToFloat(push.epsilon)); }
#if PAIRS
#define VALUES vec2
struct Channels {
  vec2 mean, inverseDeviation, factor, shift, last;
};
#define CHANNELS Channels
#define CHANNEL_START
#define MEAN channels1.mean
#define INVERSE_DEVIATION channels1.inverseDeviation
#define FACTOR channels1.factor
#define SHIFT channels1.shift
#define LAST_FACTOR channels1.last
vec2 quotients(vec2 a, vec2 b) { return vec2(roundedQuotient(a.x, b.x), roundedQuotient(a.y, b.y)); }
#else
#define VALUES float
#define CHANNELS uint
#define CHANNEL_START const vec4 of = channels[2u * channels1];
#define MEAN of.x
#define INVERSE_DEVIATION inverseDeviation(of.y)
#define FACTOR of.z
#define SHIFT of.w
#define LAST_FACTOR channels[2u * channels1 + 1u].x
float quotients(float a, float b) { return roundedQuotient(a, b); }
#endif

bool fromHalves() { return (EPILOGUE & kFromHalves) != 0u; }

// The epilogue, with the roundings and in the order of the nodes that it stands for.
VALUES followed(VALUES value, CHANNELS channels1, VALUES addend1) {
  if ((EPILOGUE & kOfChannels) != 0u) {
    CHANNEL_START
    if (!fromHalves()) value = rounded(value);
    if ((EPILOGUE & kMean) != 0u) value -= MEAN;
    if ((EPILOGUE & kVariance) != 0u) value *= INVERSE_DEVIATION;
    if ((EPILOGUE & kDivides) != 0u)
      value = quotients(value, FACTOR);
    else if ((EPILOGUE & kFactor) != 0u)
      value *= FACTOR;
    if ((EPILOGUE & kFactorRounded) != 0u) value = rounded(value);
    if ((EPILOGUE & kShift) != 0u) value += SHIFT;
    if ((EPILOGUE & kLastFactor) != 0u) value = rounded(value) * LAST_FACTOR;
  }
  if ((EPILOGUE & kAddend) != 0u) value = rounded(value) + addend1;
  return value;
}

bool addsC() { return (EPILOGUE & kAddsC) != 0u; }
// The place of C's element, which is that of the channel, too.
uint placeOfC(uint row, Column at, uvec4 base) { return base.z + row * cRowStride() + at.c; }
vec2 activationParameters() { return vec2(uintBitsToFloat(push.activationLow), uintBitsToFloat(push.activationHigh)); }

#if PAIRS
// Of two places of C.
Channels channelsOf(uvec2 places) {
  Channels result = Channels(vec2(0.0), vec2(0.0), vec2(0.0), vec2(0.0), vec2(0.0));
  [[unroll]] for (uint i = 0u; i < 2u; ++i) {
    const uint channel = addsC() ? 0u : places[i];
    if ((EPILOGUE & kOfChannels) != 0u) {
      const vec4 of = channels[2u * channel];
      result.mean[i] = of.x;
      if ((EPILOGUE & kVariance) != 0u) result.inverseDeviation[i] = inverseDeviation(of.y);
      result.factor[i] = of.z;
      result.shift[i] = of.w;
    }
    if ((EPILOGUE & kLastFactor) != 0u) result.last[i] = channels[2u * channel + 1u].x;
  }
  return result;
}
// Whether C is added to the sums: where they are rounded first, there is none.
bool hasC() { return !fromHalves() && (push.flags & kHasC) != 0u; }
// Nothing where it is not needed.
uint rawC(uint place) { return hasC() || addsC() ? loadRaw_c(place) : 0u; }
// By alpha.
vec2 scaled(vec2 sums) { return (EPILOGUE & kUnscaled) != 0u ? sums : uintBitsToFloat(push.alpha) * sums; }

// Zeros behind the results of a convolution.
#if CONVOLUTION
bool isPadding(Column at) { return at.isPadding; }
#else
bool isPadding(Column at) { return false; }
#endif

// What y holds of two sums; `c1`: C's elements.
vec2 finishedFrom(vec2 sums, vec2 c1, Channels channels1, bool padding, vec2 addends) {
  vec2 value = fromHalves() ? sums : scaled(sums);
  if (hasC()) value += uintBitsToFloat(push.beta) * c1;
  if (padding) value = vec2(0.0);
  if (EPILOGUE != 0u) value = followed(value, channels1, addsC() ? c1 : addends);
  if (FUSED != 0u) {
    [[unroll]] for (uint i = 0u; i < 2u; ++i) value[i] = activate(FUSED, value[i], activationParameters());
  }
  return value;
}

float finishedWith(float sum, uint row, Column at, uvec4 base, float addend1) {
  const uint place = placeOfC(row, at, base);
  return finishedFrom(vec2(sum), vec2(fromRaw(rawC(place))), channelsOf(uvec2(place)), isPadding(at), vec2(addend1)).x;
}
#else
// What y holds of a sum, but for the activation.
float followedFrom(float sum, uint row, Column at, uvec4 base, float addend1) {
  float value = uintBitsToFloat(push.alpha) * sum;
  const uint place = placeOfC(row, at, base);
  if ((push.flags & kHasC) != 0u) value += uintBitsToFloat(push.beta) * fromRaw(loadRaw_c(place));
#if CONVOLUTION
  if (at.isPadding) value = 0.0;
#endif
  if (EPILOGUE != 0u)
    value = followed(value, addsC() ? 0u : place, addsC() ? fromRaw(loadRaw_c(place)) : addend1);
  return value;
}

// What y holds of a sum.
float finishedWith(float sum, uint row, Column at, uvec4 base, float addend1) {
  float value = followedFrom(sum, row, at, base, addend1);
#if BLOCK
  return activateShort(FUSED, value, activationParameters());
#endif
  if (FUSED != 0u) value = activate(FUSED, value, activationParameters());
  return value;
}
#endif

void finishWith(float sum, uint row, Column at, uvec4 base, float addend1) {
  const float value = finishedWith(sum, row, at, base, addend1);
  const uint i = base.w + row * yRowStride() + at.y;
#if T == f16 && !defined(NATIVE)
  if ((push.flags & kWide) != 0u) {
    y[i] = floatBitsToUint(value);
    return;
  }
#endif
  storeRaw_y(i, toRaw(value));
}

void finish(float sum, uint pair, uint row, uint column, Column at, uvec4 base) {
  finishWith(sum, row, at, base, addendAt(base.w + row * yRowStride() + at.y));
}

// In HLSL the results of large tiles pass through shared memory: stored in fours, they take registers that two
// workgroups on a multiprocessor do not have.
#if defined(TILE) && !SPLIT && (!CONVOLUTION || WINDOWS) && !DIMPLE_HLSL
#define STORES_FOURS 1
#if T == f32 || !defined(NATIVE)
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yFoursBuffer { uvec4 yFours[]; };
void storeFourParts(uint i, vec4 four) { yFours[i / 4u] = floatBitsToUint(four); }
#else
void storeFourParts(uint i, vec4 four) {}  // 16-bit elements hold no sums
#endif
#if T == f16
layout(set = 0, binding = BINDING_y, std430) writeonly buffer yHalvesBuffer { uvec2 yHalves[]; };
layout(set = 0, binding = BINDING_addend, std430) readonly buffer addendHalvesBuffer { uvec2 addendHalves[]; };
vec4 addendFour(uint i) {
  const uvec2 four = hasAddend() ? addendHalves[i / 4u] : uvec2(0u);
  return vec4(unpackHalf2x16(four.x), unpackHalf2x16(four.y));
}
#else
layout(set = 0, binding = BINDING_addend, std430) readonly buffer addendFoursBuffer { uvec4 addendFours[]; };
vec4 addendFour(uint i) { return hasAddend() ? uintBitsToFloat(addendFours[i / 4u]) : vec4(0.0); }
#endif

void storeFour(uint i, vec4 four) {
#if T == f32
  yFours[i / 4u] = floatBitsToUint(four);
#else
#if !defined(NATIVE)
  if ((push.flags & kWide) != 0u) {
    yFours[i / 4u] = floatBitsToUint(four);
    return;
  }
#endif
  uvec4 raw;
  [[unroll]] for (uint e = 0u; e < 4u; ++e) raw[e] = toRaw(four[e]) & 0xffffu;
  yHalves[i / 4u] = uvec2(raw.x | raw.y << 16, raw.z | raw.w << 16);
#endif
}
#endif
