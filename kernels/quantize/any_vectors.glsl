// Vectors of eight or four elements of the types of any_type.glsl, as 32 bits each: a FLOAT16 as the FLOAT32 of the same
// number, an integer extended by its signedness. Include after any_type.glsl and after `bool isWide()`, whether there are
// eight.
#include "common/half_fours.glsl"

struct Vector {
  uvec4 low;
  uvec4 high;
};
Vector splat(const uint value) { return Vector(uvec4(value), uvec4(value)); }

// How many of an operand's words an invocation accesses: one an element, or some that follow each other.
const uint kWordsEach = 1u;
const uint kWordsOne = 2u;
const uint kWordsTwo = 3u;
const uint kWordsFour = 4u;
const uint kWordsEight = 5u;

// Of a vector of its elements, whose type has this width. Those of 4 bits come in vectors of eight.
uint wordsOfVector(const uint width) { return isWide() ? width : width - 1u; }

bool isHalfType(const uint type) { return (type & (kTypeFloat | kTypeWidth)) == (kTypeFloat | 4u); }

uvec4 halvesToFloats(const uvec4 bits) {
  return floatBitsToUint(
      vec4(floatFromHalf(bits.x), floatFromHalf(bits.y), floatFromHalf(bits.z), floatFromHalf(bits.w)));
}
uvec4 halfPairsToFloats(const uvec2 pairs) {
  return floatBitsToUint(vec4(unpackHalf2x16(pairs.x), unpackHalf2x16(pairs.y)));
}
uvec2 floatsToHalfPairs(const uvec4 bits) {
  return halvesFromFloats(uintBitsToFloat(bits));
}

// The low bits of words as values of a type.
uvec4 valuesOf(const uvec4 bits, const uint type) {
  if (typeWidth(type) == 5u) return bits;
  if ((type & kTypeFloat) != 0u) return halvesToFloats(bits);
  const int unused = 32 - (1 << int(typeWidth(type)));
  return (type & kTypeSigned) != 0u ? uvec4(ivec4(bits << unused) >> unused) : bits << unused >> unused;
}
Vector valuesOf(const Vector bits, const uint type) {
  return Vector(valuesOf(bits.low, type), isWide() ? valuesOf(bits.high, type) : uvec4(0u));
}

// The words of a vector of elements of this width as one word an element, whose low bits it is.
Vector bitsOfVector(const Vector words, const uint width) {
  Vector bits = words;
  if (width == 4u) {
    const uvec4 shifts = uvec4(0u, 16u, 0u, 16u);
    bits = Vector(words.low.xxyy >> shifts, words.low.zzww >> shifts);
  } else if (width == 3u) {
    const uvec4 shifts = uvec4(0u, 8u, 16u, 24u);
    bits = Vector(words.low.xxxx >> shifts, words.low.yyyy >> shifts);
  } else if (width == 2u) {
    const uvec4 shifts = uvec4(0u, 4u, 8u, 12u);
    bits = Vector(words.low.xxxx >> shifts, words.low.xxxx >> 16u >> shifts);
  }
  return bits;
}

// The values of a type that words of a vector of them hold.
Vector valuesOfVector(const Vector words, const uint type) {
  if (isHalfType(type))
    return Vector(halfPairsToFloats(words.low.xy), isWide() ? halfPairsToFloats(words.low.zw) : uvec4(0u));
  return valuesOf(bitsOfVector(words, typeWidth(type)), type);
}

// Elements side by side, as the words of a vector.
Vector packed(const Vector values, const uint type) {
  Vector words = values;
  if (isHalfType(type)) {
    words.low = uvec4(floatsToHalfPairs(values.low), floatsToHalfPairs(values.high));
  } else if (typeWidth(type) == 4u) {
    const uvec4 low = values.low & 0xffffu;
    const uvec4 high = values.high & 0xffffu;
    words.low = uvec4(low.x | low.y << 16, low.z | low.w << 16, high.x | high.y << 16, high.z | high.w << 16);
  } else if (typeWidth(type) == 3u) {
    const uvec4 low = values.low & 0xffu;
    const uvec4 high = values.high & 0xffu;
    words.low.x = low.x | low.y << 8 | low.z << 16 | low.w << 24;
    words.low.y = high.x | high.y << 8 | high.z << 16 | high.w << 24;
  } else if (typeWidth(type) == 2u) {
    const uvec4 both = values.low & 0xfu | (values.high & 0xfu) << 16;
    words.low.x = both.x | both.y << 4 | both.z << 8 | both.w << 12;
  }
  return words;
}

// Declares `Vector load_NAME(uint at, uint type)`, the operand's vector of that index, and `uint loadOne_NAME(uint i, uint
// type)`, its element of that index.
#define ANY_VECTORS_IN(NAME)                                                                                    \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uint NAME[]; };              \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##TwosBuffer { uvec2 NAME##Twos[]; };   \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##FoursBuffer { uvec4 NAME##Fours[]; }; \
  Vector load_##NAME(const uint at, const uint type) {                                                          \
    Vector words = splat(0u);                                                                                   \
    const uint read = wordsOfVector(typeWidth(type));                                                           \
    if (read == kWordsEight)                                                                                    \
      words = Vector(NAME##Fours[at * 2u], NAME##Fours[at * 2u + 1u]);                                          \
    else if (read == kWordsFour)                                                                                \
      words.low = NAME##Fours[at];                                                                              \
    else if (read == kWordsTwo)                                                                                 \
      words.low.xy = NAME##Twos[at];                                                                            \
    else                                                                                                        \
      words.low.x = NAME[at];                                                                                   \
    return valuesOfVector(words, type);                                                                         \
  }                                                                                                             \
  uint loadOne_##NAME(const uint i, const uint type) {                                                          \
    return valuesOf(uvec4(NAME[wordOf(i, type)] >> laneOf(i, type)), type).x;                                   \
  }

// Declares `store_NAME(uint at, uint type, Vector values)`.
#define ANY_VECTORS_OUT(NAME)                                                                          \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uint NAME[]; };              \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##TwosBuffer { uvec2 NAME##Twos[]; };   \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##FoursBuffer { uvec4 NAME##Fours[]; }; \
  void store_##NAME(const uint at, const uint type, const Vector values) {                             \
    const Vector words = packed(values, type);                                                         \
    const uint written = wordsOfVector(typeWidth(type));                                               \
    if (written == kWordsEight) {                                                                      \
      NAME##Fours[at * 2u] = words.low;                                                                \
      NAME##Fours[at * 2u + 1u] = words.high;                                                          \
    } else if (written == kWordsFour) {                                                                \
      NAME##Fours[at] = words.low;                                                                     \
    } else if (written == kWordsTwo) {                                                                 \
      NAME##Twos[at] = words.low.xy;                                                                   \
    } else {                                                                                           \
      NAME[at] = words.low.x;                                                                          \
    }                                                                                                  \
  }
