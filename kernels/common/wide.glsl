// The high half of a 32 by 32 bit product.
#ifndef WIDE_GLSL
#define WIDE_GLSL
uint mulHigh(uint a, uint b) {
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
}
#endif
