// Elements of a data type that a push word gives: the binary logarithm of its width in bits (2 to 5), and whether it is
// signed or a float. T is u32. Include after types.glsl.
const uint kTypeWidth = 7u;
const uint kTypeSigned = 8u;
const uint kTypeFloat = 16u;

uint typeWidth(const uint type) { return type & kTypeWidth; }
// Of element i in its word, in bits.
int laneOf(const uint i, const uint type) { return int((i & ((32u >> typeWidth(type)) - 1u)) << typeWidth(type)); }
uint wordOf(const uint i, const uint type) { return i >> (5u - typeWidth(type)); }

// Integers extended to 32 bits by their signedness.
uint extractElement(uint word, uint i, uint type) {
  const int bits = 1 << typeWidth(type);
  return (type & kTypeSigned) != 0u ? uint(bitfieldExtract(int(word), laneOf(i, type), bits))
                                    : bitfieldExtract(word, laneOf(i, type), bits);
}

#define ANY_IN(NAME)                                                                               \
  layout(set = 0, binding = BINDING_##NAME, std430) readonly buffer NAME##Buffer { uint NAME[]; }; \
  uint loadAny_##NAME(uint i, uint type) { return extractElement(NAME[wordOf(i, type)], i, type); }
// Stores to other lanes of a word commute.
#define ANY_OUT(NAME)                                                                     \
  layout(set = 0, binding = BINDING_##NAME, std430) buffer NAME##Buffer { uint NAME[]; }; \
  void storeAny_##NAME(uint i, uint type, uint bits) {                                    \
    if (typeWidth(type) == 5u) {                                                          \
      NAME[i] = bits;                                                                     \
      return;                                                                             \
    }                                                                                     \
    const uint mask = (1u << (1u << typeWidth(type))) - 1u;                               \
    const int lane = laneOf(i, type);                                                     \
    atomicAnd(NAME[wordOf(i, type)], ~(mask << lane));                                    \
    atomicOr(NAME[wordOf(i, type)], (bits & mask) << lane);                               \
  }

float floatFrom(const uint bits, const uint type) {
  if ((type & kTypeFloat) != 0u) return typeWidth(type) == 5u ? uintBitsToFloat(bits) : floatFromHalf(bits);
  return (type & kTypeSigned) != 0u ? float(int(bits)) : float(bits);
}

// A signed integer of at most 22 bits. It takes GPUs less than a conversion.
float floatOfSmall(const uint bits) {
  precise float shifted = uintBitsToFloat(0x4b400000u + bits);
  return shifted - 12582912.0;
}

// The difference of two integers, rounded once.
float differenceOf(const uint a, const uint b, const uint type) {
  if (typeWidth(type) < 5u) return floatOfSmall(a - b);
  const bool negative = (type & kTypeSigned) != 0u ? int(a) < int(b) : a < b;
  return negative ? -float(b - a) : float(a - b);
}

// round(x) + zeroPoint, to nearest even, in the range of an integer type of at most 8 bits. x is a number.
uint quantizedNumber(const float x, const uint zeroPoint, const uint type) {
  const float span = float(1u << (1u << typeWidth(type)));
  const float lowest = ((type & kTypeSigned) != 0u ? -0.5 * span : 0.0) - floatOfSmall(zeroPoint);
  // The sum's last bits are the nearest integer.
  precise float sum = clamp(x, lowest, lowest + span - 1.0) + 12582912.0;
  return floatBitsToUint(sum) - 0x4b400000u + zeroPoint;
}
// NaN becomes 0.
uint quantized(const float x, const uint zeroPoint, const uint type) {
  return isNan(x) ? 0u : quantizedNumber(x, zeroPoint, type);
}
// Of four, with one branch.
uvec4 quantized(const uvec4 bits, const uvec4 zeroPoints, const uint type) {
  const vec4 x = uintBitsToFloat(bits);
  uvec4 results;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) results[i] = quantizedNumber(x[i], zeroPoints[i], type);
  if (isNan(x.x + x.y + x.z + x.w))
    results = mix(results, uvec4(0u), bvec4(isNan(x.x), isNan(x.y), isNan(x.z), isNan(x.w)));
  return results;
}
