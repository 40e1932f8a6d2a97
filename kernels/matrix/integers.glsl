// Integer operands of 8, 16 or 32 bits less their zero points. T is the output's type: for integers sums are INT32 and
// wrap, and those of 8 bits are scaled, rounded and saturated; for floats sums are FLOAT32, scaled and biased.
//   kinds           four bits each for A, B, C, scales: 0-1 width (8, 16 or 32 bits), 2 signed
//   flags           kHasC; kHasZeroA, kHasZeroB, kHasZeroY; kAddsFloats of those that are quantized; kPositive and
//                   kClips of these and floats
//   least, most     FLOAT32 bits of the bounds of kClips
//   parameters[2]   strides of A's scales and zero points along the rows, B's along the columns
//   parameters[3]   strides of y's scales and zero points along the rows, which a convolution has one of
const uint kHasC = 1u;
const uint kHasZeroY = 2u;
const uint kADepthFirst = 4u;
const uint kBDepthFirst = 8u;
const uint kHasZeroA = 16u;
const uint kHasZeroB = 32u;
const uint kStoresFours = 64u;  // of windows: whether four results of a row lie side by side
const uint kAddsFloats = 128u;  // C is FLOAT32, and added to what the sum stands for
const uint kPositive = 256u;    // what is less than 0 is 0, before it is quantized
const uint kClips = 512u;       // what is out of bounds is the next bound, NaN the greater one, before it is quantized

layout(set = 0, binding = BINDING_a, std430) readonly buffer aBuffer { uint a[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bBuffer { uint b[]; };
#if COOPERATIVE
layout(set = 0, binding = BINDING_a, std430) readonly buffer aVectorBuffer { uvec4 aVectors[]; };
layout(set = 0, binding = BINDING_b, std430) readonly buffer bVectorBuffer { uvec4 bVectors[]; };
#endif
layout(set = 0, binding = BINDING_c, std430) readonly buffer cBuffer { uint c[]; };
layout(set = 0, binding = BINDING_zeroA, std430) readonly buffer zeroABuffer { uint zerosOfA[]; };
layout(set = 0, binding = BINDING_zeroB, std430) readonly buffer zeroBBuffer { uint zerosOfB[]; };
layout(set = 0, binding = BINDING_scaleA, std430) readonly buffer scaleABuffer { uint scalesOfA[]; };
layout(set = 0, binding = BINDING_scaleB, std430) readonly buffer scaleBBuffer { uint scalesOfB[]; };
layout(set = 0, binding = BINDING_scaleY, std430) readonly buffer scaleYBuffer { uint scalesOfY[]; };
TENSOR_IN(zeroY)
TENSOR_OUT(y)

uint kindOf(uint operand) { return push.kinds >> (operand * 4u); }

// The word that holds an element.
uint wordOf(uint i, uint kind) { return i >> (2u - (kind & 3u)); }

// An element of the word that holds it, extended to 32 bits.
uint elementOf(uint word, uint i, uint kind) {
  const uint width = 8u << (kind & 3u);
  const uint shift = (i * width) & 31u;
  const uint top = word << (32u - width - shift);
  return (kind & 4u) != 0u ? uint(int(top) >> (32u - width)) : top >> (32u - width);
}

float floatOf(uint bits, uint kind) { return (kind & 3u) == 1u ? floatFromHalf(bits) : uintBitsToFloat(bits); }

#if T_IS_FLOAT
#define SUM float
#define FOUR_SUMS vec4
// Exact before it is rounded, whatever the difference is.
float difference(uint value, uint zero, uint kind) {
  const bool below = (kind & 4u) != 0u ? int(value) < int(zero) : value < zero;
  const float magnitude = float(below ? zero - value : value - zero);
  return below ? -magnitude : magnitude;
}
#else
#define SUM int
#define FOUR_SUMS ivec4
int difference(uint value, uint zero, uint kind) { return int(value) - int(zero); }
#endif
#define ZERO uint

uint zeroOfA(uint row) {
  const uint i = row * parameters[2].y;
  return (push.flags & kHasZeroA) != 0u ? elementOf(zerosOfA[wordOf(i, kindOf(0u))], i, kindOf(0u)) : 0u;
}
uint zeroOfB(uint column) {
  const uint i = column * parameters[2].w;
  return (push.flags & kHasZeroB) != 0u ? elementOf(zerosOfB[wordOf(i, kindOf(1u))], i, kindOf(1u)) : 0u;
}
SUM loadA(uint i, uint zero) {
  return difference(elementOf(a[wordOf(i, kindOf(0u))], i, kindOf(0u)), zero, kindOf(0u));
}
SUM loadB(uint i, uint zero) {
  return difference(elementOf(b[wordOf(i, kindOf(1u))], i, kindOf(1u)), zero, kindOf(1u));
}

#if T_BITS == 8 || T_IS_FLOAT
float scaleOf(uint row, uint column) {
  const uint kind = kindOf(3u);
  const uint i = row * parameters[2].x;
  const uint j = column * parameters[2].z;
  return floatOf(elementOf(scalesOfA[wordOf(i, kind)], i, kind), kind) *
         floatOf(elementOf(scalesOfB[wordOf(j, kind)], j, kind), kind);
}
#endif

#if T_BITS == 8 || T_IS_FLOAT
float activated(float v) {
  if ((push.flags & kPositive) != 0u) v = maxNum(v, 0.0);
  const float most = uintBitsToFloat(push.most);
  if ((push.flags & kClips) != 0u) v = isNan(v) ? most : minNum(maxNum(v, uintBitsToFloat(push.least)), most);
  return v;
}
#endif

#if CONVOLUTION
#define OF_Y(row, stride) 0u
#else
#define OF_Y(row, stride) ((row) * (stride))
#endif

// What y holds of a sum.
uint finished(SUM sum, uint pair, uint row, uint column, Column at, uvec4 base) {
  const uint scaleRow = quantizedRow(pair, row);
  const bool hasC = (push.flags & kHasC) != 0u;
  const uint i = base.z + row * cRowStride() + at.c;
#if T_IS_FLOAT
  float result = scaleOf(scaleRow, column) * sum;
  if (hasC) result += floatOf(elementOf(c[wordOf(i, kindOf(2u))], i, kindOf(2u)), kindOf(2u));
  result = activated(result);
#else
  int result = sum;
#if T_BITS == 8
  const bool addsFloats = (push.flags & kAddsFloats) != 0u;
  if (hasC && !addsFloats) result += int(elementOf(c[wordOf(i, kindOf(2u))], i, kindOf(2u)));
  float real = float(result) * scaleOf(scaleRow, column);
  if (addsFloats) real += uintBitsToFloat(c[i]);
  real = activated(real);
  float zero = 0.0;
  if ((push.flags & kHasZeroY) != 0u) zero = float(fromRaw(loadRaw_zeroY(OF_Y(scaleRow, parameters[3].y))));
  const float scaled = roundedQuotient(real, uintBitsToFloat(scalesOfY[OF_Y(scaleRow, parameters[3].x)]));
  const float rounded = roundEven(scaled) + zero;
#if T_IS_SIGNED
  const int least = -128;
  const int most = 127;
#else
  const int least = 0;
  const int most = 255;
#endif
  result = isNan(rounded) ? 0 : rounded <= float(least) ? least : rounded >= float(most) ? most : int(rounded);
#else
  if (hasC) result += int(elementOf(c[wordOf(i, kindOf(2u))], i, kindOf(2u)));
#endif
#endif
#if T_IS_FLOAT
  return toRaw(result);
#else
  return uint(result);
#endif
}

void finish(SUM sum, uint pair, uint row, uint column, Column at, uvec4 base) {
  storeRaw_y(base.w + row * yRowStride() + at.y, finished(sum, pair, row, column, at, base));
}
