#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "common/functions.glsl"
#include "common/pow.glsl"
#include "elementwise/saturated.glsl"

// EXPONENT: data type of the exponents.

TENSOR_IN(x)
layout(set = 0, binding = BINDING_exponent, std430) readonly buffer exponentBuffer { uint exponents[]; };
TENSOR_OUT(y)

// An exponent is a whole number or a FLOAT32.
struct Exponent {
  bool isWhole;
  bool isNegative;
  uint magnitude;
  float real;
};
Exponent realExponent(float value) { return Exponent(false, false, 0u, value); }
Exponent wholeExponent(int value) { return Exponent(true, value < 0, uint(abs(value)), float(value)); }

uint loadBits(uint i, uint width) {
  const uint lanes = 32u / width;
  return width == 32u ? exponents[i] : exponents[i / lanes] >> (i % lanes * width) & ((1u << width) - 1u);
}

Exponent givenExponent(uint i) {
  switch (EXPONENT) {
    case DML_TENSOR_DATA_TYPE_FLOAT32: return realExponent(uintBitsToFloat(loadBits(i, 32u)));
    case DML_TENSOR_DATA_TYPE_FLOAT16: return realExponent(floatFromHalf(loadBits(i, 16u)));
    case DML_TENSOR_DATA_TYPE_INT8: return wholeExponent(bitfieldExtract(int(loadBits(i, 8u)), 0, 8));
    case DML_TENSOR_DATA_TYPE_INT16: return wholeExponent(bitfieldExtract(int(loadBits(i, 16u)), 0, 16));
    case DML_TENSOR_DATA_TYPE_UINT8: return wholeExponent(int(loadBits(i, 8u)));
    case DML_TENSOR_DATA_TYPE_UINT16: return wholeExponent(int(loadBits(i, 16u)));
    case DML_TENSOR_DATA_TYPE_UINT32: return Exponent(true, false, loadBits(i, 32u), float(loadBits(i, 32u)));
  }
  return wholeExponent(int(loadBits(i, 32u)));
}

float scaled(float x) { return x * uintBitsToFloat(push.scale) + uintBitsToFloat(push.bias); }

// Scale and bias apply to exponents too. Whole ones are truncated to whole ones of 32 bits.
Exponent loadExponent(uint i) {
  const Exponent given = givenExponent(i);
  if (push.hasScaleBias == 0u) return given;
  const float value = scaled(given.real);
  if (!given.isWhole) return realExponent(value);
  const bool isUnsigned = EXPONENT == DML_TENSOR_DATA_TYPE_UINT8 || EXPONENT == DML_TENSOR_DATA_TYPE_UINT16 ||
                          EXPONENT == DML_TENSOR_DATA_TYPE_UINT32;
  if (isNan(value)) return wholeExponent(0);
  if (!isUnsigned) {
    const int lowest = -0x7fffffff - 1;
    return wholeExponent(value <= float(lowest) ? lowest : value >= 2147483648.0 ? 0x7fffffff : int(value));
  }
  const uint magnitude = value <= 0.0 ? 0u : value >= 4294967296.0 ? 0xffffffffu : uint(value);
  return Exponent(true, false, magnitude, float(magnitude));
}

#if T_IS_FLOAT
float power(float x, Exponent e) {
  if (push.hasScaleBias != 0u) x = scaled(x);
  return powRounded(x, e.real);
}
#else
// Whole powers by squaring, modulo 2^32, which saturate to narrower types. Negative ones are what truncation leaves of a
// fraction.
COMPUTE power(COMPUTE x, Exponent e) {
  if (push.hasScaleBias != 0u) x = saturated(scaled(float(x)));
  if (!e.isWhole) return saturated(powAccurate(float(x), e.real));
  const bool odd = (e.magnitude & 1u) != 0u;
#if T_IS_SIGNED
  const bool minusOne = x == -1;
#else
  const bool minusOne = false;
#endif
  if (e.isNegative) return x == COMPUTE(1) || (minusOne && !odd) ? COMPUTE(1) : minusOne ? x : COMPUTE(0);
  COMPUTE result = COMPUTE(1);
  for (uint n = e.magnitude; n != 0u; n >>= 1) {
    if ((n & 1u) != 0u) result *= x;
    x *= x;
  }
#if T_IS_SIGNED
  return clamp(result, -1 - int(T_MASK >> 1), int(T_MASK >> 1));
#else
  return min(result, T_MASK);
#endif
}
#endif

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  storeRaw_y(at.z, toRaw(power(fromRaw(loadRaw_x(at.x)), loadExponent(at.y))));
}
