// One expression per function of two operands. Needs attributes.glsl, ATTRIBUTES, the words of the operator's own
// attributes, and OP: a constant, or a parameter that OF_OPERATOR declares.
#ifndef OF_OPERATOR
#define OF_OPERATOR
#endif

#if T_IS_FLOAT
// The gradient of CLIP: none at the bounds and beyond.
float clipGradient(OF_HALVES float x, float gradient) {
  const float least = attributeValue(ATTRIBUTES.aLow, ATTRIBUTES.aHigh);
  const float most = attributeValue(ATTRIBUTES.bLow, ATTRIBUTES.bHigh);
  return lessRounded(PASS_HALVES least, x) && lessRounded(PASS_HALVES x, most) ? gradient : 0.0;
}

// Computed without a sum that overflows. Small numbers are added first, since their halves may be flushed.
float mean(float a, float b) {
  const float large = exp2Int(100);
  if (abs(a) < large && abs(b) < large) return (a + b) * 0.5;
  return timesPowerOf2(a, -1) + timesPowerOf2(b, -1);
}

// The remainder of a division, with the sign of a. It is exact, whatever the quotient is.
float remainderTruncated(OF_HALVES float a, float b) {
  if (HALVES) {
    // For numbers of 11 bits, the remainder for a quotient of 12 bits, which may be off by one, is exact.
    const float whole = trunc(a / b);
    if (abs(whole) < 4096.0 && abs(b) < INFINITY) {
      float rest = abs(a) - abs(whole) * abs(b);
      rest = rest < 0.0 ? rest + abs(b) : rest;
      rest = rest >= abs(b) ? rest - abs(b) : rest;
      return withSignOf(rest, a);
    }
  }
  const uint bBits = floatBitsToUint(b) & 0x7fffffffu;
  const uint aBits = floatBitsToUint(a) & 0x7fffffffu;
  if (aBits >= 0x7f800000u || bBits > 0x7f800000u || bBits == 0u) return NOT_A_NUMBER;
  if (aBits < bBits) return a;
  // Significands with the exponents of the larger and the smaller, denormals among them.
  int aExponent = int(aBits >> 23);
  int bExponent = int(bBits >> 23);
  uint rest = aBits & 0x007fffffu;
  uint divisor = bBits & 0x007fffffu;
  if (aExponent == 0) aExponent = 1; else rest |= 0x00800000u;
  if (bExponent == 0) bExponent = 1; else divisor |= 0x00800000u;
  rest = rest % divisor;
  // Eight binary places at a time.
  for (int places = aExponent - bExponent; places > 0 && rest != 0u; places -= 8) {
    const int step1 = min(places, 8);
    rest = (rest << step1) % divisor;
  }
  if (rest == 0u) return withSignOf(0.0, a);
  // Up to the place of a significand's first bit, which the exponent of the number tells.
  const int shift = min(150 - int(floatBitsToUint(float(rest)) >> 23), bExponent - 1);
  rest <<= shift;
  const int exponent = bExponent - shift;
  const uint bits = rest < 0x00800000u ? rest : (uint(exponent) << 23) | (rest & 0x007fffffu);
  return withSignOf(uintBitsToFloat(bits), a);
}

float remainderFloored(OF_HALVES float a, float b) {
  const float rest = remainderTruncated(PASS_HALVES a, b);
  const bool zero = (floatBitsToUint(rest) & 0x7fffffffu) == 0u;
  return !zero && ((floatBitsToUint(rest) ^ floatBitsToUint(b)) >> 31) != 0u ? rest + b : rest;
}

// Each rounds by itself, also in a chain: NVIDIA's compiler contracts a product and a sum across what chain.comp puts
// between them.
float applyFunction(OF_OPERATOR OF_HALVES float a, float b) {
  precise const float sum = a + b;
  precise const float difference = a - b;
  precise const float product = a * b;
  switch (OP) {
#include "elementwise/binary_list.glsl"
  }
  return 0.0;
}
#else
COMPUTE clipGradient(COMPUTE x, COMPUTE gradient) {
  const bool above = isLess(attributeValue(ATTRIBUTES.aLow, ATTRIBUTES.aHigh), x);
  return above && isLess(x, attributeValue(ATTRIBUTES.bLow, ATTRIBUTES.bHigh)) ? gradient : COMPUTE(0);
}

#if T == u8
// A quotient of a half more is farther from integers than a device's division may be off.
uint quotientOfBytes(uint a, uint b) {
  // The last bits of 2^23 and more are integers.
  precise float numerator = uintBitsToFloat(a | 0x4b000000u) - 8388607.5;
  precise float denominator = uintBitsToFloat(b | 0x4b000000u) - 8388608.0;
  precise float shifted = (numerator / denominator - 0.5) + kRounder;
  return b == 0u ? ~0u : floatBitsToUint(shifted) & 0xffu;
}
#endif

// Truncates toward zero. Division by zero and of the lowest value by -1 are undefined in GLSL: the first gives all ones
// (unsigned) or -1 and 1 (signed), the second wraps.
COMPUTE quotient(COMPUTE a, COMPUTE b) {
#if T_IS_SIGNED
  if (b == COMPUTE(0)) return a < COMPUTE(0) ? COMPUTE(1) : COMPUTE(-1);
  if (b == COMPUTE(-1)) return -a;
  return a / b;
#elif T == u8
  return quotientOfBytes(a, b);
#else
  return b == COMPUTE(0) ? ~COMPUTE(0) : a / b;
#endif
}

// The remainder has the sign of a. A division by zero leaves no remainder.
COMPUTE remainderTruncated(COMPUTE a, COMPUTE b) {
#if T == u8
  const uint rest = a - quotientOfBytes(a, b) * b;
  return b == 0u ? 0u : rest;
#else
  if (b == COMPUTE(0)) return COMPUTE(0);
#if T_IS_SIGNED
  // GLSL leaves % of negative operands undefined, and so does Vulkan, also where a compiler makes it of a quotient.
#if T_BITS == 64
#define MAGNITUDE uint64_t
#else
#define MAGNITUDE uint
#endif
  const MAGNITUDE ofA = a < COMPUTE(0) ? MAGNITUDE(0) - MAGNITUDE(a) : MAGNITUDE(a);
  const MAGNITUDE ofB = b < COMPUTE(0) ? MAGNITUDE(0) - MAGNITUDE(b) : MAGNITUDE(b);
  const COMPUTE rest = COMPUTE(ofA % ofB);
#undef MAGNITUDE
  return a < COMPUTE(0) ? -rest : rest;
#else
  return a % b;
#endif
#endif
}

COMPUTE remainderFloored(COMPUTE a, COMPUTE b) {
  const COMPUTE rest = remainderTruncated(a, b);
  return rest != COMPUTE(0) && (rest < COMPUTE(0)) != (b < COMPUTE(0)) ? rest + b : rest;
}

// Bits that are shifted out are lost, all of them by the width and more.
COMPUTE shifted(COMPUTE a, COMPUTE b, bool left) {
  if (b >= COMPUTE(T_BITS)) return COMPUTE(0);
  return left ? a << b : a >> b;
}

COMPUTE truth(bool value) { return value ? COMPUTE(1) : COMPUTE(0); }

COMPUTE applyFunction(OF_OPERATOR COMPUTE a, COMPUTE b) {
  switch (OP) {
    case DML_OPERATOR_ELEMENT_WISE_ADD: return a + b;
    case DML_OPERATOR_ELEMENT_WISE_SUBTRACT: return a - b;
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY: return a * b;
    case DML_OPERATOR_ELEMENT_WISE_DIVIDE: return quotient(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MAX: return maxNum(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MIN: return minNum(a, b);
    case DML_OPERATOR_ELEMENT_WISE_BIT_AND: return a & b;
    case DML_OPERATOR_ELEMENT_WISE_BIT_OR: return a | b;
    case DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_LEFT: return shifted(a, b, true);
    case DML_OPERATOR_ELEMENT_WISE_BIT_SHIFT_RIGHT: return shifted(a, b, false);
    case DML_OPERATOR_ELEMENT_WISE_BIT_XOR: return a ^ b;
    case DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD:
    case DML_OPERATOR_ELEMENT_WISE_CLIP_GRAD1: return clipGradient(a, b);
    case DML_OPERATOR_ELEMENT_WISE_DIFFERENCE_SQUARE: return (a - b) * (a - b);
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_AND: return truth(a != COMPUTE(0) && b != COMPUTE(0));
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_OR: return truth(a != COMPUTE(0) || b != COMPUTE(0));
    case DML_OPERATOR_ELEMENT_WISE_LOGICAL_XOR: return truth((a != COMPUTE(0)) != (b != COMPUTE(0)));
    case DML_OPERATOR_ELEMENT_WISE_MEAN: return quotient(a + b, COMPUTE(2));
    case DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR: return remainderFloored(a, b);
    case DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE: return remainderTruncated(a, b);
    case DML_OPERATOR_ACTIVATION_PARAMETERIZED_RELU: return a < COMPUTE(0) ? b * a : a;
    case DML_OPERATOR_ACTIVATION_RELU_GRAD: return a > COMPUTE(0) ? b : COMPUTE(0);
  }
  return COMPUTE(0);
}
#endif
