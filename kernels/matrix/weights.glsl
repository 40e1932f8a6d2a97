// Weights of BITS bits as products take them: B's integers, scales, and maybe zero points. Include after matrix.glsl.
//   signs     to be exclusively or-ed with a word of weights, so that they are unsigned
//   zeroAt    the zero point of all, made unsigned, too, or kZeroGiven: that of the binding
//   1 << blockBits   weights of a column that a scale and a zero point serve
//   parameters[2]    steps among scales from column to column and from block to block, and among zero points; with
//                    STRIDES_PUSHED push words: scaleColumn, scaleBlock, zeroColumn, zeroBlock
layout(set = 0, binding = BINDING_scale, std430) readonly buffer scaleBuffer { uint scale[]; };
layout(set = 0, binding = BINDING_zero, std430) readonly buffer zeroBuffer { uint zero[]; };

const uint kZeroGiven = 0xffffffffu;

float scaleAt(uint i) {
  return push.halfScales != 0u ? floatFromHalf(scale[i / 2u] >> (i % 2u * 16u)) : uintBitsToFloat(scale[i]);
}
uint zeroWordAt(uint i) { return zero[i * BITS / 32u]; }
float zeroAt(uint i) {
  if (push.zeroAt != kZeroGiven) return float(push.zeroAt);
  return float(bitfieldExtract(zeroWordAt(i) ^ push.signs, int(i * BITS % 32u), int(BITS)));
}
// Where the parameters of a column's first block are, and of another block of that column.
#if STRIDES_PUSHED
uvec2 firstBlockOf(uint column) { return column * uvec2(push.scaleColumn, push.zeroColumn); }
uvec2 blockAt(uvec2 firstBlock, uint k) {
  return firstBlock + (k >> push.blockBits) * uvec2(push.scaleBlock, push.zeroBlock);
}
#else
uvec2 firstBlockOf(uint column) { return column * parameters[2].xz; }
uvec2 blockAt(uvec2 firstBlock, uint k) { return firstBlock + (k >> push.blockBits) * parameters[2].yw; }
#endif

// Weights as numbers without conversions: under the bits of 2^23 a weight is that many units above it, or so many times
// more as its place in the half of a word says. No selections, which would be constant expressions of vectors: drivers
// take the wrong one.
vec4 unitsOfPlaces() {
  if (BITS == 4u) return vec4(1.0, 16.0, 256.0, 4096.0);
  return vec4(1.0, 256.0, 1.0, 256.0);
}
vec4 sharesOfPlaces() {
  if (BITS == 4u) return vec4(1.0, 0.0625, 0.00390625, 0.000244140625);
  return vec4(1.0, 0.00390625, 1.0, 0.00390625);
}
// What a zero point and 2^23 are together.
vec4 lessOf(float zeroPoint) { return 8388608.0 + zeroPoint * unitsOfPlaces(); }

// Four weights less that, times the units of their places; `word`: that of 8 bits, or that of 4 bits whose lower or upper
// half they are.
vec4 fourWeights(uint word, bool upper, vec4 less) {
  const uint unsigned1 = word ^ push.signs;
  uvec4 bits;
  if (BITS == 4u)
    bits = uvec4(upper ? unsigned1 >> 16u : unsigned1) & uvec4(0xfu, 0xf0u, 0xf00u, 0xf000u);
  else
    bits = uvec4(unsigned1, unsigned1, unsigned1 >> 16u, unsigned1 >> 16u) & uvec4(0xffu, 0xff00u, 0xffu, 0xff00u);
  return uintBitsToFloat(bits | 0x4b000000u) - less;
}
