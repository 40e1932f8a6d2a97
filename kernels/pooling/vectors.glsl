// Elements of vectors of 16 bytes under windows. Include after grid.glsl, packed.glsl and math.glsl. A running result
// is an integer: of a maximum a key that orders elements, of sums their FLOAT32 bits. ONLY_MAXIMA: there are no others.
// FLOAT_MAXIMA: maxima are FLOAT32 bits, too, and NaN where there is no number.
#if T_IS_FLOAT
#include "common/fours.glsl"
#else
const uint kVectorElements = 128u / T_BITS;
#define ONLY_MAXIMA
#endif
#ifdef ONLY_MAXIMA
#define IS_MAXIMUM true
#else
#define IS_MAXIMUM (FUNCTION == DML_OPERATOR_MAX_POOLING)
#endif

#if T == f16 && !defined(ONLY_MAXIMA)
#define FLOAT_MAXIMA
#include "common/extremes.glsl"
#endif

// Below every key, also that of NaN, which loses against numbers.
const int kNothing = -0x7fffffff - 1;

#if T == f16
const int kInfinity = 0x7c00;
#else
const int kInfinity = 0x7f800000;
#endif
const int kNegative = int(1u << (T_BITS - 1u));  // the bit of the sign

int emptyResult() {
#ifdef FLOAT_MAXIMA
  if (IS_MAXIMUM) return 0x7fc00000;
#endif
  return IS_MAXIMUM ? kNothing : 0;
}

// Zeros of both signs have one key.
int keyOf(uint bits) {
#if T_IS_FLOAT
  const int magnitude = int(bits) & (kNegative - 1);
  const int key = (int(bits) & kNegative) != 0 ? -magnitude : magnitude;
  return magnitude > kInfinity ? -kInfinity - 1 : key;
#else
  return int(fromRaw(bits));
#endif
}

// Element `i` of a vector, as what is combined. Unroll loops over `i`.
int elementOf(uint word, uint i) {
#ifdef FLOAT_MAXIMA
  if (IS_MAXIMUM) return floatBitsToInt(unpackHalf2x16(word)[i % 2u]);
#endif
  if (IS_MAXIMUM) return keyOf(LANE(word, i % PACKED_LANES));
#ifdef ONLY_MAXIMA
  return 0;
#else
#if T == f16
  const float v = unpackHalf2x16(word)[i % 2u];
#else
  const float v = uintBitsToFloat(word);
#endif
  if (FUNCTION == DML_OPERATOR_AVERAGE_POOLING) return floatBitsToInt(v);
  return floatBitsToInt(push.power == 1u ? abs(v) : v * v);
#endif
}
int elementOf(uvec4 vector, uint i) { return elementOf(vector[i / PACKED_LANES], i); }
int elementOf(uvec2 vector, uint i) { return elementOf(vector[i / PACKED_LANES], i); }

int combine(int a, int b) {
#ifdef FLOAT_MAXIMA
  if (IS_MAXIMUM) return floatBitsToInt(greaterNumber(intBitsToFloat(a), intBitsToFloat(b)));
#endif
  return IS_MAXIMUM ? max(a, b) : floatBitsToInt(intBitsToFloat(a) + intBitsToFloat(b));
}

#ifdef FLOAT_MAXIMA
#define HAS_KEYS false
#else
#define HAS_KEYS IS_MAXIMUM
#endif

#ifndef ONLY_MAXIMA
// `total`: elements under the window.
float finishFloat(int sum, uint total) {
  if (IS_MAXIMUM) return total == 0u ? uintBitsToFloat(0xff800000u) : intBitsToFloat(sum);
  if (FUNCTION == DML_OPERATOR_AVERAGE_POOLING) {
    const float divisor = uintBitsToFloat(push.divisor);
    return intBitsToFloat(sum) / (divisor == 0.0 ? float(total) : divisor);
  }
  const float repeated = intBitsToFloat(sum) * uintBitsToFloat(push.repeats);
  return push.power == 1u ? repeated : sqrt(repeated);
}
#endif

uint bitsOfKey(int key) {
#if T_IS_FLOAT
  const int bounded = key == kNothing ? -kInfinity : key;
  return uint(bounded < 0 ? -bounded | kNegative : bounded);
#elif T_IS_SIGNED
  return uint(max(key, -int(T_MASK >> 1) - 1));
#else
  return uint(max(key, 0));
#endif
}
