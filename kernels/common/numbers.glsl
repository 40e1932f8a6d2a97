// Conversions between all number formats by integer arithmetic, so that they are exact on every device: no 64-bit
// features are needed, denormals survive devices that flush them, and every rounding is to nearest even.
// 64-bit integers and FLOAT64 are uvec2(low, high).

struct FloatFormat {
  int significandBits;    // bits of the significand, the implicit one included
  int minExponent;   // of the smallest normal number
  int exponentBits;
};
const FloatFormat kHalf = FloatFormat(11, -14, 5);
const FloatFormat kSingle = FloatFormat(24, -126, 8);
const FloatFormat kDouble = FloatFormat(53, -1022, 11);

uvec2 shiftLeft(uvec2 v, int n) {
  if (n >= 64) return uvec2(0u);
  if (n >= 32) return uvec2(0u, v.x << (n - 32));
  return n == 0 ? v : uvec2(v.x << n, (v.y << n) | (v.x >> (32 - n)));
}
uvec2 shiftRight(uvec2 v, int n) {
  if (n >= 64) return uvec2(0u);
  if (n >= 32) return uvec2(v.y >> (n - 32), 0u);
  return n == 0 ? v : uvec2((v.x >> n) | (v.y << (32 - n)), v.y >> n);
}
uvec2 add64(uvec2 a, uvec2 b) {
  const uint low = a.x + b.x;
  return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
uvec2 negate64(uvec2 v) { return add64(~v, uvec2(1u, 0u)); }
bool less64(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
int topBit(uvec2 v) { return v.y != 0u ? 32 + findMSB(v.y) : findMSB(v.x); }

// (-1)^negative * significand * 2^exponent, infinity or NaN.
struct Number {
  bool negative;
  bool isNan;
  bool isInfinite;
  uvec2 significand;
  int exponent;
};

Number decodeFloat(uvec2 bits, FloatFormat f) {
  const uvec2 fraction =
      f.significandBits > 33 ? uvec2(bits.x, bits.y & ((1u << (f.significandBits - 33)) - 1u)) : uvec2(bits.x & ((1u << (f.significandBits - 1)) - 1u), 0u);
  const uint top = shiftRight(bits, f.significandBits - 1).x;
  const uint largest = (1u << f.exponentBits) - 1u;
  const uint biased = top & largest;
  Number n;
  n.negative = (top >> f.exponentBits & 1u) != 0u;
  const bool zeroFraction = fraction == uvec2(0u);
  n.isNan = biased == largest && !zeroFraction;
  n.isInfinite = biased == largest && zeroFraction;
  n.significand = biased == 0u ? fraction : add64(fraction, shiftLeft(uvec2(1u, 0u), f.significandBits - 1));
  n.exponent = f.minExponent - (f.significandBits - 1) + int(max(biased, 1u)) - 1;
  return n;
}

Number decodeInteger(uvec2 v, bool isSigned) {
  Number n;
  n.negative = isSigned && int(v.y) < 0;
  n.isNan = false;
  n.isInfinite = false;
  n.significand = n.negative ? negate64(v) : v;
  n.exponent = 0;
  return n;
}

uvec2 encodeFloat(Number n, FloatFormat f) {
  const uvec2 infinity = shiftLeft(uvec2((1u << f.exponentBits) - 1u, 0u), f.significandBits - 1);
  const uvec2 sign = shiftLeft(uvec2(n.negative ? 1u : 0u, 0u), f.significandBits - 1 + f.exponentBits);
  if (n.isNan) return infinity | shiftLeft(uvec2(1u, 0u), f.significandBits - 2);
  if (n.isInfinite) return sign | infinity;
  if (n.significand == uvec2(0u)) return sign;
  const int exponent = max(n.exponent + topBit(n.significand), f.minExponent);
  // Bits of the significand below the result's last place.
  const int drop = exponent - (f.significandBits - 1) - n.exponent;
  if (drop > 64) return sign;
  uvec2 kept = drop <= 0 ? shiftLeft(n.significand, -drop) : shiftRight(n.significand, drop);
  if (drop > 0) {
    const uvec2 half1 = shiftLeft(uvec2(1u, 0u), drop - 1);
    const uvec2 rest = drop == 64 ? n.significand : n.significand & add64(add64(half1, half1), uvec2(~0u));
    if (less64(half1, rest) || (rest == half1 && (kept.x & 1u) != 0u)) kept = add64(kept, uvec2(1u, 0u));
  }
  // The implicit bit of a normal number adds one to the exponent field; so does a carry out of rounding.
  const uvec2 bits = add64(shiftLeft(uvec2(uint(exponent - f.minExponent), 0u), f.significandBits - 1), kept);
  return sign | (less64(bits, infinity) ? bits : infinity);
}

// Truncates toward zero and saturates to an integer of `width` bits, sign-extended to 64 bits; NaN becomes 0.
uvec2 truncateNumber(Number n, int width, bool isSigned) {
  if (n.isNan) return uvec2(0u);
  uvec2 whole = n.exponent >= 0 ? shiftLeft(n.significand, n.exponent) : shiftRight(n.significand, -n.exponent);
  const bool zero = n.significand == uvec2(0u);
  const bool tooWide = n.isInfinite || (!zero && n.exponent + topBit(n.significand) >= 64);
  if (n.negative && !isSigned) return uvec2(0u);
  // Largest magnitude: 2^width - 1, 2^(width-1) - 1, or 2^(width-1) below zero.
  const uvec2 limit = add64(shiftLeft(uvec2(1u, 0u), isSigned ? width - 1 : width), uvec2(~0u));
  const uvec2 most = n.negative ? add64(limit, uvec2(1u, 0u)) : limit;
  if (tooWide || less64(most, whole)) whole = most;
  return n.negative ? negate64(whole) : whole;
}
