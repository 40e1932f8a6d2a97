// Operands of chains, some elements of each an invocation. Include after any_type.glsl.
//
// The first words of the parameter block decide what the kernel does, and may be known when it is compiled: what stands
// in brackets is passed by value, so that functions are made for it (core/plan/plan.h, Dispatch::fixed).

// The parameter block in words (core/ops/chain.cpp): of each operand, inputs before outputs, its type and place; of
// each step what it is; how many dimensions there are; whether an invocation takes eight elements or four; whether each
// of them has all of these (1), and takes twice as many (2); the dimension, counted from the innermost, along which
// tiles are high, or 0.
const uint kInputs = 6u;
const uint kHeads = 0u;
const uint kControls = 8u;
const uint kRank = 40u;
const uint kWide = 41u;
const uint kWhole = 42u;
const uint kTiled = 43u;
// And what is read: of each operand where it begins, and the strides of the dimensions, innermost first; {size,
// multiplier, shift1, shift2} of each dimension; three numbers a step.
const uint kBases = 44u;
const uint kStrides = 52u;
const uint kDimensions = 29u;  // in vectors
const uint kNumbers = 148u;

#define PARAMETER(word) parameters[(word) >> 2][(word) & 3u]

bool isWide() { return PARAMETER(kWide) != 0u; }
uint laneCount() { return isWide() ? 8u : 4u; }
// Whether an invocation takes two vectors, a workgroup's apart, of which all are whole. Both are loaded first.
bool isTwice() { return PARAMETER(kWhole) == 2u; }

// Takes lanes one by one where CONDITION holds, or where the last vector of a packed tensor has fewer elements. In code
// that is made for parameters the conditions stand alone: a disjunction would not be decided.
#ifdef DIMPLE_HLSL
#define EACH_WHERE(CONDITION, FIRST, TAKE) \
  if (CONDITION || (PARAMETER(kWhole) == 0u && FIRST + laneCount() > push.count)) TAKE
#else
#define EACH_WHERE(CONDITION, FIRST, TAKE)      \
  if (CONDITION) TAKE;                          \
  if (PARAMETER(kWhole) == 0u) {                \
    if (FIRST + laneCount() > push.count) TAKE; \
  }
#endif

#include "quantize/any_vectors.glsl"

// A 0 that compilers do not know for one.
uint unknownZero() { return push.steps >> 16; }
// Each element but the first one place on, and another behind them. libvkd3d assigns the variables of a loop one after
// the other, which is wrong for those that take each other's values: these are made by an operation.
Vector moved(Vector v, uint last) {
  const uint zero = unknownZero();
  return Vector(uvec4(v.low.yzw, isWide() ? v.high.x : last) ^ zero, uvec4(v.high.yzw, last) ^ zero);
}
const uvec4 kLaneLow = uvec4(0u, 1u, 2u, 3u);
const uvec4 kLaneHigh = uvec4(4u, 5u, 6u, 7u);

// Where an invocation's first element lies: at the base and its index, where a walk leads, or at the base.
const uint kStartMask = 3u << 5;
const uint kStartLinear = 0u << 5;
const uint kStartWalk = 1u << 5;
// Where the others lie: behind it, in the same place, each in its own, or across the tile of a workgroup.
const uint kSpreadMask = 3u << 7;
const uint kSpreadVector = 0u << 7;
const uint kSpreadOne = 1u << 7;
const uint kSpreadEach = 2u << 7;
const uint kSpreadTile = 3u << 7;

uint offsetOf(const uint operand, const uint head, const uint index) {
  const uint base = PARAMETER(kBases + operand);
  const uint start = head & kStartMask;
  if (start != kStartWalk) return start == kStartLinear ? base + index : base;
  uint offset = base;
  uint rest = index;
  const uint rank = PARAMETER(kRank);
  for (uint d = 0u; d < rank; ++d) {
    const uvec4 dimension = parameters[kDimensions + d];
    const uint quotient = d + 1u < rank ? divideBy(rest, dimension) : 0u;
    const uint stride = kStrides + operand * 8u + d;
    offset += (rest - quotient * dimension.x) * PARAMETER(stride);
    rest = quotient;
  }
  return offset;
}

// The same of each lane; those behind the last element stand where that is.
Vector offsetsOf(const uint operand, const uint head, const uint first) {
  const uint last = push.count - 1u;
  Vector offsets = splat(0u);
  offsets.low = uvec4(offsetOf(operand, head, first), offsetOf(operand, head, min(first + 1u, last)),
                      offsetOf(operand, head, min(first + 2u, last)), offsetOf(operand, head, min(first + 3u, last)));
  if (isWide())
    offsets.high =
        uvec4(offsetOf(operand, head, min(first + 4u, last)), offsetOf(operand, head, min(first + 5u, last)),
              offsetOf(operand, head, min(first + 6u, last)), offsetOf(operand, head, min(first + 7u, last)));
  return offsets;
}

#define WORD(NAME, i) NAME[(i) >> 2][(i) & 3u]
#define WORDS(NAME, i) uvec4(WORD(NAME, i.x), WORD(NAME, i.y), WORD(NAME, i.z), WORD(NAME, i.w))

#define INPUT(NAME) layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uvec4 NAME[]; };
INPUT(in0)
INPUT(in1)
INPUT(in2)
INPUT(in3)
INPUT(in4)
INPUT(in5)

#define OF_OPERAND(RESULT)       \
  switch (operand) {             \
    case 0u: return RESULT(in0); \
    case 1u: return RESULT(in1); \
    case 2u: return RESULT(in2); \
    case 3u: return RESULT(in3); \
    case 4u: return RESULT(in4); \
  }                              \
  return RESULT(in5);

#ifdef DIMPLE_HLSL
#define WORD_AT(NAME) WORD(NAME, at)
#define FOUR_WORDS_AT(NAME) NAME[at >> 2]
uint wordOfOperand(uint operand, uint at) { OF_OPERAND(WORD_AT) }
uvec4 fourWordsOf(uint operand, uint at) { OF_OPERAND(FOUR_WORDS_AT) }
#else
#define WORDS_OF(NAME)                                                  \
  Vector words_##NAME(const uint read, const Vector at) {               \
    Vector words = splat(0u);                                           \
    if (read == kWordsOne) {                                            \
      words.low.x = WORD(NAME, at.low.x);                               \
    } else if (read == kWordsEach) {                                    \
      words.low = WORDS(NAME, at.low);                                  \
      if (isWide()) words.high = WORDS(NAME, at.high);                  \
    } else if (read == kWordsTwo) {                                     \
      words.low.x = WORD(NAME, at.low.x);                               \
      words.low.y = WORD(NAME, at.low.x + 1u);                          \
    } else {                                                            \
      words.low = NAME[at.low.x >> 2];                                  \
      if (read == kWordsEight) words.high = NAME[(at.low.x >> 2) + 1u]; \
    }                                                                   \
    return words;                                                       \
  }
WORDS_OF(in0)
WORDS_OF(in1)
WORDS_OF(in2)
WORDS_OF(in3)
WORDS_OF(in4)
WORDS_OF(in5)
#define CALL_WORDS(NAME) words_##NAME(read, at)
Vector wordsOf(const uint operand, const uint read, const Vector at) { OF_OPERAND(CALL_WORDS) }
#endif

#ifndef DIMPLE_HLSL
// Of a workgroup whose invocations take a tile: eight vectors in a row, 32 rows along the dimension kTiled, in which
// the elements of operands of kSpreadTile lie side by side, with words of their own for each column.
const uint kTileRows = 32u;
const uint kTileVectors = 8u;
// A word more, so that neighbours in a row lie in different banks.
shared uint tile[kTileVectors * 8u][kTileRows + 1u];
uint tileOrigin;   // the element of its first column and row
uvec2 tileExtent;  // columns and rows from there to the end of the tensor

uvec2 tilePlace() {
  return uvec2(gl_LocalInvocationID.x % kTileVectors * laneCount(), gl_LocalInvocationID.x / kTileVectors);
}

// The invocation's first element; false if the workgroup has none.
bool tileFirst(out uint first) {
  uint rest = groupIndex();
  first = 0u;
  if (rest >= push.groups) return false;
  const uint rank = PARAMETER(kRank);
  const uvec2 tileSize = uvec2(kTileVectors * laneCount(), kTileRows);
  uint rowStep = 0u;
  uint step = 1u;
  tileOrigin = 0u;
  for (uint d = 0u; d < rank; ++d) {
    const uint size = parameters[kDimensions + d].x;
    const uint extent = d == 0u ? tileSize.x : d == PARAMETER(kTiled) ? tileSize.y : 1u;
    const uint tiles = (size + extent - 1u) / extent;
    const uint at = rest % tiles * extent;
    if (d == 0u) tileExtent.x = size - at;
    if (d == PARAMETER(kTiled)) {
      tileExtent.y = size - at;
      rowStep = step;
    }
    tileOrigin += at * step;
    step *= size;
    rest /= tiles;
  }
  const uvec2 place = tilePlace();
  first = tileOrigin + place.x + place.y * rowStep;
  return true;
}
bool isInTile() { return all(lessThan(tilePlace(), tileExtent)); }

// Words of the columns from memory, along the rows, for all invocations.
void loadTile(const uint operand, const uint width) {
  const uint words = kTileRows >> (5u - width);
  const uint origin = offsetOf(operand, kStartWalk, tileOrigin);
  const uint stride = PARAMETER(kStrides + operand * 8u);
  barrier();
  [[unroll]] for (uint i = 0u; i < kTileVectors * laneCount() * words; i += gl_WorkGroupSize.x) {
    const uint column = (i + gl_LocalInvocationID.x) / words;
    const uint row = (gl_LocalInvocationID.x % words) << (5u - width);
    if (column < tileExtent.x && row < tileExtent.y)
      tile[column][row >> (5u - width)] =
          wordsOf(operand, kWordsOne, splat((origin + column * stride + row) >> (5u - width))).low.x;
  }
  barrier();
}

uvec4 tileWords(const uvec2 place, const uint width) {
  const uint word = place.y >> (5u - width);
  return uvec4(tile[place.x][word], tile[place.x + 1u][word], tile[place.x + 2u][word], tile[place.x + 3u][word]) >>
         ((place.y & ((32u >> width) - 1u)) << width);
}

Vector loadAcross(const uint operand, const uint type) {
  const uint width = typeWidth(type);
  loadTile(operand, width);
  const uvec2 place = tilePlace();
  const Vector words = Vector(tileWords(place, width), isWide() ? tileWords(place + uvec2(4u, 0u), width) : uvec4(0u));
  return valuesOf(words, type);
}
#endif

#ifdef DIMPLE_HLSL
// The values of low bits of words, or of floats that a FLOAT16 is to hold: one copy for the low lanes and the high ones.
Vector valuesInTurn(Vector bits, uint type, bool areFloats) {
  [[dont_unroll]] for (uint turn = 0u; turn < laneCount() / 4u; ++turn) {
    uvec4 four = turn == 0u ? bits.low : bits.high;
    if (areFloats) {
      const uvec2 pairs = floatsToHalfPairs(four);
      four = uvec4(pairs.x, pairs.x >> 16, pairs.y, pairs.y >> 16);
    }
    four = valuesOf(four, type);
    if (turn == 0u)
      bits.low = four;
    else
      bits.high = four;
  }
  return bits;
}

// The values of an input from element `first` on. There is one copy of what finds elements, and of what reads words:
// those of four lanes, then of the others.
Vector loadInput(uint operand, uint head, uint first) {
  const uint type = head & 31u;
  const uint width = typeWidth(type);
  const uint spread = head & kSpreadMask;
  const bool isOne = spread == kSpreadOne;
  const bool isEach =
      !isOne && (spread == kSpreadEach || (PARAMETER(kWhole) == 0u && first + laneCount() > push.count));
  const bool isVector = !isOne && !isEach;
  const uint read = isOne ? kWordsOne : isEach ? kWordsEach : wordsOfVector(width);
  const uint turns = isEach ? laneCount() / 4u : read == kWordsEight ? 2u : 1u;
  const uint places = isEach ? 4u : read == kWordsTwo ? 2u : 1u;
  Vector at = splat(0u);
  Vector words = splat(0u);
  [[dont_unroll]] for (uint turn = 0u; turn < turns; ++turn) {
    uvec4 elements = uvec4(0u);
    uvec4 found = uvec4(0u);
    [[dont_unroll]] for (uint i = 0u; i < places; ++i) {
      const uint element = offsetOf(operand, head, isEach ? min(first + turn * 4u + i, push.count - 1u) : first);
      uint word = element >> (5u - width);
      if (isVector) word += turn * 4u + i;
      if (read >= kWordsFour) {
        found = fourWordsOf(operand, word);
      } else {
        const uint one = wordOfOperand(operand, word);
        [[unroll]] for (uint k = 0u; k < 4u; ++k)
          if (k >= i) found[k] = one;
      }
      [[unroll]] for (uint k = 0u; k < 4u; ++k)
        if (k >= i) elements[k] = element;
    }
    if (turn == 0u) {
      at.low = elements;
      words.low = found;
    } else {
      at.high = elements;
      words.high = found;
    }
  }
  if (isVector) {
    words = bitsOfVector(words, width);
  } else {
    if (isOne) {
      at.high = at.low;
      words.high = words.low;
    }
    const uint lanes = (32u >> width) - 1u;
    words = Vector(words.low >> ((at.low & lanes) << width), words.high >> ((at.high & lanes) << width));
  }
  return valuesInTurn(words, type, false);
}
#else
Vector loadEach(const uint operand, const uint head, const uint first) {
  const uint type = head & 31u;
  const uint width = typeWidth(type);
  const Vector at = offsetsOf(operand, head, first);
  const Vector words = wordsOf(operand, kWordsEach, Vector(at.low >> (5u - width), at.high >> (5u - width)));
  const uint lanes = (32u >> width) - 1u;
  return valuesOf(Vector(words.low >> ((at.low & lanes) << width), words.high >> ((at.high & lanes) << width)), type);
}

// What is read of an input that has one element for all lanes, which is in the lowest bits then, or a vector of them.
Vector loadWords(const uint operand, const uint head, const uint first) {
  const uint type = head & 31u;
  const bool isOne = (head & kSpreadMask) == kSpreadOne;
  const uint at = offsetOf(operand, head, first);
  Vector words =
      wordsOf(operand, isOne ? kWordsOne : wordsOfVector(typeWidth(type)), splat(at >> (5u - typeWidth(type))));
  if (isOne) words.low.x >>= laneOf(at, type);
  return words;
}

// The same of both vectors of an invocation, of the first inputs, and which of them is in turn.
const uint kInputsOfTwo = 3u;
Vector loaded[kInputsOfTwo];
Vector loadedNext[kInputsOfTwo];
uint turn;
#define LOAD_BOTH(operand)                                                  \
  if (PARAMETER(operand) != 0u) {                                           \
    loaded[operand] = loadWords(operand, PARAMETER(operand), first);        \
    loadedNext[operand] = loadWords(operand, PARAMETER(operand), second);   \
  }
void loadBoth(const uint first, const uint second) {
  LOAD_BOTH(0u) LOAD_BOTH(1u) LOAD_BOTH(2u)
}
Vector wordsInTurn(const uint operand) {
  const bvec4 isNext = bvec4(turn != 0u);
  return Vector(mix(loaded[operand].low, loadedNext[operand].low, isNext),
                mix(loaded[operand].high, loadedNext[operand].high, isNext));
}

// The values of an input from element `first` on.
Vector loadInput(const uint operand, const uint head, const uint first) {
  const uint type = head & 31u;
  const uint spread = head & kSpreadMask;
  if (spread == kSpreadTile) return loadAcross(operand, type);
  if (PARAMETER(kTiled) != 0u) {
    if (!isInTile()) return splat(0u);
  }
  if (spread != kSpreadOne) {
    EACH_WHERE(spread == kSpreadEach, first, return loadEach(operand, head, first));
  }
  Vector words;
  if (isTwice())
    words = wordsInTurn(operand);
  else
    words = loadWords(operand, head, first);
  if (spread == kSpreadOne) return valuesOf(splat(words.low.x), type);
  return valuesOfVector(words, type);
}
#endif

// Stores to other lanes of a word commute. Both operands depend on what is stored: executed in place, an element is
// loaded from the word that is cleared, and compilers may assume that buffers do not alias.
#define CHAIN_OUT(NAME)                                                                    \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uvec4 NAME[]; }; \
  void storeVector_##NAME(const uint word, const uint width, const Vector words) {         \
    const uint written = wordsOfVector(width);                                             \
    if (written <= kWordsTwo) {                                                            \
      WORD(NAME, word) = words.low.x;                                                      \
      if (written == kWordsTwo) WORD(NAME, word + 1u) = words.low.y;                       \
    } else {                                                                               \
      NAME[word >> 2] = words.low;                                                         \
      if (written == kWordsEight) NAME[(word >> 2) + 1u] = words.high;                     \
    }                                                                                      \
  }                                                                                        \
  void storeElement_##NAME(const uint i, const uint type, const uint bits) {               \
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

void storeEach(const uint output_, const uint head, const uint first, const Vector values) {
  const uint type = head & 31u;
  Vector rest = values;
  const uint end = min(first + laneCount(), push.count);
  [[dont_unroll]] for (uint index = first; index < end; ++index) {
    const uint offset = offsetOf(kInputs + output_, head, index);
    const uint bits = isHalfType(type) ? halfFromFloat(uintBitsToFloat(rest.low.x)) : rest.low.x;
    if (output_ == 0u)
      storeElement_out0(offset, type, bits);
    else
      storeElement_out1(offset, type, bits);
    rest = moved(rest, 0u);
  }
}

// Stores values from element `first` on.
void storeOutput(const uint output_, const uint head, const uint first, const Vector values) {
  const uint type = head & 31u;
#ifndef DIMPLE_HLSL
  if (PARAMETER(kTiled) != 0u) {
    if (!isInTile()) return;
  }
#endif
  EACH_WHERE((head & kSpreadMask) != kSpreadVector, first, {
    storeEach(output_, head, first, values);
    return;
  });
  const uint word = wordOf(offsetOf(kInputs + output_, head, first), type);
  if (output_ == 0u)
    storeVector_out0(word, typeWidth(type), packed(values, type));
  else
    storeVector_out1(word, typeWidth(type), packed(values, type));
}
