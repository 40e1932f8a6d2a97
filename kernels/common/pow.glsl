// x^y within a few ULP, with the special cases of C's pow. Include after functions.glsl.
#include "common/halves.glsl"

// The logarithm of a normal number above 0, as the sum of two FLOAT32 whose first has 12 bits.
vec2 log2Pair(float x) {
  // Near 1 or near 3/2.
  const uint least = 0x3f5db3d7u;  // the square root of 3/4
  const uint bits = floatBitsToUint(x) - least;
  const float m = uintBitsToFloat((bits & 0x007fffffu) + least);
  const float e = float(int(bits) >> 23);
  const bool third = m > 1.22474487;
  const float base = third ? 1.5 : 1.0;
  // s = (m - base) / (m + base)
  const float u = m - base;
  const float d = m + base;
  const float v = 1.0 / d;
  precise float s = u * v;
  const float sHigh = highPart(s);
  const float dHigh = highPart(d);
  precise float dLow = m - (dHigh - base);
  precise float rest = u - sHigh * dHigh;
  precise float sLow = v * fma(-sHigh, dLow, rest);
  const float s2 = s * s;
  float r = 2.0697501302e-1;
  r = r * s2 + 2.3066075146e-1;
  r = r * s2 + 2.7272811532e-1;
  r = r * s2 + 3.3333334327e-1;
  r = r * s2 + 4.2857143283e-1;
  r = r * s2 + 6.0000002384e-1;
  precise float tail = fma(r, s2 * s2, sLow * (sHigh + s));
  precise float square = sHigh * sHigh;
  precise float tHigh = highPart((3.0 + square) + tail);
  precise float tLow = tail - ((tHigh - 3.0) - square);
  precise float pHead = sHigh * tHigh;
  precise float pRest = fma(sLow, tHigh, tLow * s);
  precise float pHigh = highPart(pHead + pRest);
  precise float pLow = pRest - (pHigh - pHead);
  // 2 / (3 ln 2) and log2(base) in two parts each
  precise float zHigh = 9.6191406250e-1 * pHigh;
  precise float zLow = fma(-1.1736857402e-4, pHigh, fma(pLow, 9.6179670095e-1, third ? 1.56322085e-6 : 0.0));
  const float offset = third ? 5.84960938e-1 : 0.0;
  precise float high = highPart(((zHigh + zLow) + offset) + e);
  precise float low = zLow - (((high - e) - offset) - zHigh);
  return vec2(high, low);
}

// Of a normal number above 0 and an exponent that is finite.
float powOfPositive(float x, float y) {
  const vec2 logarithm = log2Pair(x);
  // y * logarithm in two parts.
  const float yHigh = highPart(y);
  precise float low = fma(y - yHigh, logarithm.x, y * logarithm.y);
  precise float high = yHigh * logarithm.x;
  precise float shifted = (high + low) + kRounder;
  precise float n = shifted - kRounder;
  precise float rest = (high - n) + low;
  const float power = scaledByShifted(expNearZero(rest * 0.693147181) + 1.0, shifted);
  // Beyond this range the result is 0 or infinite whatever the digits are.
  const float estimate = y * logarithm.x;
  return estimate > 130.0 ? INFINITY : estimate < -152.0 ? 0.0 : power;
}

float powAccurate(float x, float y) {
  if (hasRoots(x, y)) return powByRoots(x, y);
  const float power = powOfPositive(abs(x), y);
  return isPositiveNormal(x) && abs(y) < INFINITY ? power : powOfSpecial(x, y, power);
}

float powRounded(OF_HALVES float x, float y) {
  IF_HALVES(powHalf(x, y))
  return powAccurate(x, y);
}
