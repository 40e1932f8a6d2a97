// Operands of chains, some elements of each an invocation. Include after any_type.glsl.

const uint kLanes = 8u;
struct Vector {
  uvec4 low;
  uvec4 high;
};
// Each element but the first one place on, and another behind them. libvkd3d assigns the variables of a loop one after
// the other, which is wrong for those that take each other's values: these are made by an operation, with a 0 that
// compilers do not know for one.
Vector moved(Vector v, uint last) {
  const uint zero = push.steps >> 16;
  return Vector(uvec4(v.low.yzw, v.high.x) ^ zero, uvec4(v.high.yzw, last) ^ zero);
}
Vector splat(uint value) { return Vector(uvec4(value), uvec4(value)); }

const uvec4 kLaneLow = uvec4(0u, 1u, 2u, 3u);
const uvec4 kLaneHigh = uvec4(4u, 5u, 6u, 7u);

// Three vectors an operand: {type and place, base} {strides of the dimensions, innermost first}, and {size, multiplier,
// shift1, shift2} of each dimension (core/ops/chain.cpp).
const uint kInputs = 6u;
const uint kDimensions = 24u;
const uint kProgram = 32u;

// Where an invocation's first element lies: at the base and its index, where a walk leads, or at the base.
const uint kStartMask = 3u << 5;
const uint kStartLinear = 0u << 5;
const uint kStartWalk = 1u << 5;
// Where the others lie: behind it, in the same place, or each in its own.
const uint kSpreadMask = 3u << 7;
const uint kSpreadVector = 0u << 7;
const uint kSpreadOne = 1u << 7;
const uint kSpreadEach = 2u << 7;

// How an invocation's words are read.
const uint kReadOne = 0u;
const uint kReadEach = 1u;
const uint kReadBits8 = 3u;
const uint kReadBits16 = 4u;
const uint kReadBits32 = 5u;

uint offsetOf(uint operand, uint index) {
  const uvec4 head = parameters[operand * 3u];
  const uint start = head.x & kStartMask;
  if (start != kStartWalk) return start == kStartLinear ? head.y + index : head.y;
  uint offset = head.y;
  uint rest = index;
  for (uint d = 0u; d < push.rank; ++d) {
    const uvec4 dimension = parameters[kDimensions + d];
    const uint quotient = d + 1u < push.rank ? divideBy(rest, dimension) : 0u;
    offset += (rest - quotient * dimension.x) * parameters[operand * 3u + 1u + d / 4u][d % 4u];
    rest = quotient;
  }
  return offset;
}

// The same of each lane; those behind the last element stand where that is.
Vector offsetsOf(uint operand, uint first) {
  const uint last = push.count - 1u;
  Vector offsets;
  offsets.low = uvec4(offsetOf(operand, first), offsetOf(operand, min(first + 1u, last)),
                      offsetOf(operand, min(first + 2u, last)), offsetOf(operand, min(first + 3u, last)));
  offsets.high = uvec4(offsetOf(operand, min(first + 4u, last)), offsetOf(operand, min(first + 5u, last)),
                       offsetOf(operand, min(first + 6u, last)), offsetOf(operand, min(first + 7u, last)));
  return offsets;
}

#define WORD(NAME, i) NAME[(i) >> 2][(i) & 3u]
#define WORDS(NAME, i) uvec4(WORD(NAME, i.x), WORD(NAME, i.y), WORD(NAME, i.z), WORD(NAME, i.w))

#define CHAIN_IN(NAME)                                                                              \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uvec4 NAME[]; }; \
  Vector words_##NAME(uint read, Vector at) {                                                       \
    Vector words = Vector(uvec4(0u), uvec4(0u));                                                    \
    if (read == kReadOne) {                                                                         \
      words.low.x = WORD(NAME, at.low.x);                                                           \
    } else if (read == kReadEach) {                                                                 \
      words.low = WORDS(NAME, at.low);                                                              \
      words.high = WORDS(NAME, at.high);                                                            \
    } else if (read == kReadBits8) {                                                                \
      words.low.x = WORD(NAME, at.low.x);                                                           \
      words.low.y = WORD(NAME, at.low.x + 1u);                                                      \
    } else {                                                                                        \
      words.low = NAME[at.low.x >> 2];                                                              \
      if (read == kReadBits32) words.high = NAME[(at.low.x >> 2) + 1u];                             \
    }                                                                                               \
    return words;                                                                                   \
  }

CHAIN_IN(in0)
CHAIN_IN(in1)
CHAIN_IN(in2)
CHAIN_IN(in3)
CHAIN_IN(in4)
CHAIN_IN(in5)

Vector wordsOf(uint operand, uint read, Vector at) {
  switch (operand) {
    case 0u: return words_in0(read, at);
    case 1u: return words_in1(read, at);
    case 2u: return words_in2(read, at);
    case 3u: return words_in3(read, at);
    case 4u: return words_in4(read, at);
  }
  return words_in5(read, at);
}

uvec4 halvesToFloats(uvec4 bits) {
  return floatBitsToUint(
      vec4(floatFromHalf(bits.x), floatFromHalf(bits.y), floatFromHalf(bits.z), floatFromHalf(bits.w)));
}
uvec4 floatsToHalves(uvec4 bits) {
  const vec4 x = uintBitsToFloat(bits);
  return uvec4(halfFromFloat(x.x), halfFromFloat(x.y), halfFromFloat(x.z), halfFromFloat(x.w));
}

// The low bits of words as values of a type.
uvec4 valuesOf(uvec4 bits, uint type) {
  if (typeWidth(type) == 5u) return bits;
  if ((type & kTypeFloat) != 0u) return halvesToFloats(bits);
  const int unused = 32 - (1 << int(typeWidth(type)));
  return (type & kTypeSigned) != 0u ? uvec4(ivec4(bits << unused) >> unused) : bits << unused >> unused;
}
Vector valuesOf(Vector bits, uint type) { return Vector(valuesOf(bits.low, type), valuesOf(bits.high, type)); }

// The values of an input from element `first` on.
Vector loadInput(uint operand, uint first) {
  const uint head = parameters[operand * 3u].x;
  const uint type = head & 31u;
  const uint width = typeWidth(type);
  const uint spread = head & kSpreadMask;
  // The last vector of a packed tensor may have fewer elements.
  const bool each = spread == kSpreadEach || (spread == kSpreadVector && first + kLanes > push.count);
  Vector at = Vector(uvec4(0u), uvec4(0u));
  if (each)
    at = offsetsOf(operand, first);
  else
    at.low.x = offsetOf(operand, first);
  const uint read = each ? kReadEach : spread == kSpreadOne ? kReadOne : width;
  const Vector words = wordsOf(operand, read, Vector(at.low >> (5u - width), at.high >> (5u - width)));
  Vector bits = words;
  if (read == kReadOne) {
    bits = splat(words.low.x >> laneOf(at.low.x, type));
  } else if (read == kReadEach) {
    const uint lanes = (32u >> width) - 1u;
    bits = Vector(words.low >> ((at.low & lanes) << width), words.high >> ((at.high & lanes) << width));
  } else if (read == kReadBits16) {
    const uvec4 shifts = uvec4(0u, 16u, 0u, 16u);
    bits = Vector(words.low.xxyy >> shifts, words.low.zzww >> shifts);
  } else if (read == kReadBits8) {
    const uvec4 shifts = uvec4(0u, 8u, 16u, 24u);
    bits = Vector(words.low.xxxx >> shifts, words.low.yyyy >> shifts);
  }
  return valuesOf(bits, type);
}

// Stores to other lanes of a word commute. Both operands depend on what is stored: executed in place, an element is
// loaded from the word that is cleared, and compilers may assume that buffers do not alias.
#define CHAIN_OUT(NAME)                                                                    \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uvec4 NAME[]; }; \
  void storeVector_##NAME(uint word, uint width, Vector words) {                           \
    if (width == 3u) {                                                                     \
      WORD(NAME, word) = words.low.x;                                                      \
      WORD(NAME, word + 1u) = words.low.y;                                                 \
    } else {                                                                               \
      NAME[word >> 2] = words.low;                                                         \
      if (width == 5u) NAME[(word >> 2) + 1u] = words.high;                                \
    }                                                                                      \
  }                                                                                        \
  void storeElement_##NAME(uint i, uint type, uint bits) {                                 \
    const uint word = wordOf(i, type);                                                     \
    if (typeWidth(type) == 5u) {                                                           \
      WORD(NAME, word) = bits;                                                             \
    } else {                                                                               \
      const uint mask = (1u << (1u << typeWidth(type))) - 1u;                              \
      const uint lane = (bits & mask) << laneOf(i, type);                                  \
      atomicAnd(WORD(NAME, word), ~(mask << laneOf(i, type)) | lane);                      \
      atomicOr(WORD(NAME, word), lane);                                                    \
    }                                                                                      \
  }

CHAIN_OUT(out0)
CHAIN_OUT(out1)

// Stores values from element `first` on.
void storeOutput(uint output_, uint first, Vector values) {
  const uint operand = kInputs + output_;
  const uint head = parameters[operand * 3u].x;
  const uint type = head & 31u;
  Vector bits = values;
  if (type == (kTypeFloat | kTypeSigned | 4u)) bits = Vector(floatsToHalves(bits.low), floatsToHalves(bits.high));
  if ((head & kSpreadMask) == kSpreadVector && first + kLanes <= push.count) {
    Vector words = bits;
    if (typeWidth(type) == 4u) {
      const uvec4 low = bits.low & 0xffffu;
      const uvec4 high = bits.high & 0xffffu;
      words.low = uvec4(low.x | low.y << 16, low.z | low.w << 16, high.x | high.y << 16, high.z | high.w << 16);
    } else if (typeWidth(type) == 3u) {
      const uvec4 low = bits.low & 0xffu;
      const uvec4 high = bits.high & 0xffu;
      words.low.x = low.x | low.y << 8 | low.z << 16 | low.w << 24;
      words.low.y = high.x | high.y << 8 | high.z << 16 | high.w << 24;
    }
    const uint word = wordOf(offsetOf(operand, first), type);
    if (output_ == 0u)
      storeVector_out0(word, typeWidth(type), words);
    else
      storeVector_out1(word, typeWidth(type), words);
    return;
  }
  const uint end = min(first + kLanes, push.count);
  [[dont_unroll]] for (uint index = first; index < end; ++index) {
    const uint offset = offsetOf(operand, index);
    if (output_ == 0u)
      storeElement_out0(offset, type, bits.low.x);
    else
      storeElement_out1(offset, type, bits.low.x);
    bits = moved(bits, 0u);
  }
}
