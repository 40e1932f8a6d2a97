// The high half of a 32 by 32 bit product.
#ifndef WIDE_GLSL
#define WIDE_GLSL
uint mulHigh(uint a, uint b) {
#if DIMPLE_HLSL
  const uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
  const uint middle = ah * bl + ((al * bl) >> 16);
  return ah * bh + (middle >> 16) + ((al * bh + (middle & 0xffffu)) >> 16);
#else
  uint high, low;
  umulExtended(a, b, high, low);
  return high;
#endif
}
#endif
