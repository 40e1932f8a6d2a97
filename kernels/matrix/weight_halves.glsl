// Weights as the FLOAT16 that a DEQUANTIZE stores. The difference of a weight and a zero point is exact, and its product
// with a scale is rounded once. Include after weights.glsl and cooperative.glsl.
#if DIMPLE_REFLECT
#define TWO_HALVES uint
#define TO_HALVES(BITS_OF_TWO) (BITS_OF_TWO)
#define FROM_HALVES(TWO) (TWO)
#else
#define TWO_HALVES f16vec2
#define TO_HALVES(BITS_OF_TWO) unpackFloat2x16(BITS_OF_TWO)
#define FROM_HALVES(TWO) packFloat2x16(TWO)
#endif

// Under the bits of 1024 a weight is that many units above it; one that lies four bits higher is so under those of 64.
const uint kThousand = 0x64006400u;
const uint kSixtyFour = 0x54005400u;

// Of both halves.
struct HalfParameters {
  TWO_HALVES scale;
  TWO_HALVES thousand;   // and the zero point
  TWO_HALVES sixtyFour;  // the same
};

// `scale1`: the bits of a FLOAT16. `zeroPoint`: unsigned.
HalfParameters halfParameters(uint scale1, uint zeroPoint) {
  const uint both = zeroPoint | (zeroPoint << 16u);
  return HalfParameters(TO_HALVES(scale1 | (scale1 << 16u)), TO_HALVES(kThousand | both),
                        TO_HALVES(kSixtyFour | (both << 4u)));
}

uint scaledHalves(uint bits, TWO_HALVES less, TWO_HALVES scale1) { return FROM_HALVES((TO_HALVES(bits) - less) * scale1); }
uint lowerHalves(uint a, uint b) { return (a & 0xffffu) | (b << 16u); }
uint upperHalves(uint a, uint b) { return (a >> 16u) | (b & 0xffff0000u); }

// Eight weights of a word of 4 bits each.
uvec4 eightNibbles(uint word, HalfParameters p) {
  const uint low = word ^ push.signs;
  const uint high = low >> 8u;
  const uint a = scaledHalves((low & 0x000f000fu) | kThousand, p.thousand, p.scale);
  const uint b = scaledHalves((low & 0x00f000f0u) | kSixtyFour, p.sixtyFour, p.scale);
  const uint c = scaledHalves((high & 0x000f000fu) | kThousand, p.thousand, p.scale);
  const uint d = scaledHalves((high & 0x00f000f0u) | kSixtyFour, p.sixtyFour, p.scale);
  return uvec4(lowerHalves(a, b), lowerHalves(c, d), upperHalves(a, b), upperHalves(c, d));
}

// Four weights of a word of 8 bits each.
uvec2 fourBytes(uint word, HalfParameters p) {
  const uint low = word ^ push.signs;
  const uint a = scaledHalves((low & 0x00ff00ffu) | kThousand, p.thousand, p.scale);
  const uint b = scaledHalves((low >> 8u & 0x00ff00ffu) | kThousand, p.thousand, p.scale);
  return uvec2(lowerHalves(a, b), upperHalves(a, b));
}
