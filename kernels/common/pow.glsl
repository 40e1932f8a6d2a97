// x^y within a few ULP, with the special cases of C's pow. Include after functions.glsl.
#include "common/halves.glsl"

// Of a number above 0, as the sum of two FLOAT32 whose first has 12 bits.
vec2 log2Pair(float x) {
  uint bits = floatBitsToUint(x);
  int exponent = 0;
  if (bits < 0x00800000u) {
    const int shift = 23 - findMSB(bits);
    bits <<= shift;
    exponent = 1 - shift;
    bits = (bits & 0x007fffffu) | 0x00800000u;
  }
  exponent += int(bits >> 23) - 127;
  const uint fraction = bits & 0x007fffffu;
  uint significand = fraction | 0x3f800000u;
  // Near 1 or near 3/2.
  bool third = false;
  if (fraction >= 0x5db3d7u) {
    significand -= 0x00800000u;
    exponent += 1;
  } else {
    third = fraction > 0x1cc471u;
  }
  const float base = third ? 1.5 : 1.0;
  const float m = uintBitsToFloat(significand);
  // s = (m - base) / (m + base)
  const float u = m - base;
  const float v = 1.0 / (m + base);
  precise float s = u * v;
  const float sHigh = highPart(s);
  const float dHigh = uintBitsToFloat(((significand >> 1 | 0x20000000u) & 0xfffff000u) + 0x00400000u + (third ? 0x00200000u : 0u));
  precise float dLow = m - (dHigh - base);
  precise float sLow = v * ((u - sHigh * dHigh) - sHigh * dLow);
  float s2 = s * s;
  float r = 2.0697501302e-1;
  r = r * s2 + 2.3066075146e-1;
  r = r * s2 + 2.7272811532e-1;
  r = r * s2 + 3.3333334327e-1;
  r = r * s2 + 4.2857143283e-1;
  r = r * s2 + 6.0000002384e-1;
  precise float tail = r * s2 * s2 + sLow * (sHigh + s);
  s2 = sHigh * sHigh;
  precise float tHigh = highPart(3.0 + s2 + tail);
  precise float tLow = tail - ((tHigh - 3.0) - s2);
  precise float pHead = sHigh * tHigh;
  precise float pRest = sLow * tHigh + tLow * s;
  precise float pHigh = highPart(pHead + pRest);
  precise float pLow = pRest - (pHigh - pHead);
  // 2 / (3 ln 2) and log2(base) in two parts each
  precise float zHigh = 9.6191406250e-1 * pHigh;
  precise float zLow = -1.1736857402e-4 * pHigh + pLow * 9.6179670095e-1 + (third ? 1.56322085e-6 : 0.0);
  const float offset = third ? 5.84960938e-1 : 0.0;
  const float e = float(exponent);
  precise float high = highPart(((zHigh + zLow) + offset) + e);
  precise float low = zLow - (((high - e) - offset) - zHigh);
  return vec2(high, low);
}

float powAccurate(float x, float y) {
  if (hasRoots(x, y)) return powByRoots(x, y);
  if ((floatBitsToUint(y) & 0x7fffffffu) == 0u || x == 1.0) return 1.0;
  if (isNan(x) || isNan(y)) return NOT_A_NUMBER;
  const float t = abs(x);
  const bool negative = (floatBitsToUint(x) >> 31) != 0u;
  const bool wholeExponent = abs(y) >= 8388608.0 || (abs(y) >= 1.0 && floor(y) == y);
  const bool odd = abs(y) < 16777216.0 && wholeExponent && (int(y) & 1) != 0;
  const float sign = negative && odd ? -1.0 : 1.0;
  if (abs(y) == INFINITY) return t == 1.0 ? 1.0 : (t > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  if ((floatBitsToUint(x) & 0x7fffffffu) == 0u) return isLess(0.0, y) ? sign * 0.0 : sign * INFINITY;
  if (t == INFINITY) return isLess(0.0, y) ? sign * INFINITY : sign * 0.0;
  if (negative && !wholeExponent) return NOT_A_NUMBER;
  const vec2 logarithm = log2Pair(t);
  // y * logarithm in two parts. Beyond this range the result is 0 or infinite whatever the digits are.
  const float estimate = y * logarithm.x;
  if (estimate > 130.0) return sign * INFINITY;
  if (estimate < -152.0) return sign * 0.0;
  const float yHigh = highPart(y);
  precise float low = (y - yHigh) * logarithm.x + y * logarithm.y;
  precise float high = yHigh * logarithm.x;
  const float n = roundEven(high + low);
  precise float rest = (high - n) + low;
  const float value = expAccurate(rest * 0.693147181);
  const int whole = int(n);
  const int part = whole / 2;
  return sign * value * exp2Int(part) * exp2Int(whole - part);
}

float powRounded(OF_HALVES float x, float y) {
  IF_HALVES(powHalf(x, y))
  return powAccurate(x, y);
}
