#version 460
#extension GL_GOOGLE_include_directive : require
#define T u32
#include "common/types.glsl"

// quantize.comp for packed tensors, or rows of vectors (elementwise/row_places.glsl), of whose operands each moves
// along the rows, or stands still as uniformMask says. FROM, TO: types of x and y. SCALES: kOneScale, if x moves and
// the others stand still; kScales, if all move; else 0. An invocation takes eight elements, or four where results are
// 32 bits wide.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"
#include "quantize/quotients.glsl"
#define ROWS 1
#include "elementwise/row_places.glsl"

bool isWide() { return typeWidth(TO) < 5u || typeWidth(FROM) < 3u; }

#include "quantize/any_vectors.glsl"

ANY_VECTORS_IN(x)
ANY_VECTORS_IN(scale)
ANY_VECTORS_IN(zeroPoint)
ANY_VECTORS_OUT(y)

const uint kOneScale = 1u;
const uint kScales = 2u;

Vector either(const uint one, const Vector vector, const uint mask) {
  return Vector(either(one, vector.low, mask), either(one, vector.high, mask));
}
// Declares `Vector vectorOf_NAME(uint at, uint type, uint typeOfOne)`, the operand's elements for an invocation.
#define OPERAND(NAME, operand)                                                                  \
  Vector vectorOf_##NAME(const uint at, const uint type, const uint typeOfOne) {                \
    Vector vector;                                                                              \
    if (SCALES == kScales || (SCALES == kOneScale && operand == 0u))                            \
      vector = load_##NAME(at, type);                                                           \
    else if (SCALES == kOneScale)                                                               \
      vector = splat(loadOne_##NAME(STANDING(at), typeOfOne));                                  \
    else                                                                                        \
      vector = either(loadOne_##NAME(STANDING(at) & STANDING_MASK(operand), typeOfOne),         \
                      load_##NAME(at & ~STANDING_MASK(operand), type), STANDING_MASK(operand)); \
    return vector;                                                                              \
  }
OPERAND(x, 0u)
OPERAND(scale, 1u)
OPERAND(zeroPoint, 2u)

// Of scales that move: of the floats among x and y, or for x of INT32 FLOAT32. One scale has push.scaleType, since that
// of DYNAMIC_QUANTIZE_LINEAR is always FLOAT32.
uint scaleType() {
  if ((FROM & kTypeFloat) != 0u) return FROM;
  return (TO & kTypeFloat) != 0u ? TO : kTypeFloat | kTypeSigned | 5u;
}

// An element as floatFrom() has it.
float floatOf(const uint bits, const uint type) {
  if ((type & kTypeFloat) != 0u) return uintBitsToFloat(bits);
  return (type & kTypeSigned) != 0u ? float(int(bits)) : float(bits);
}

uint dequantized(const uint x, const uint s, const uint z) {
  return floatBitsToUint(differenceOf(x, z, FROM) * uintBitsToFloat(s));
}

uvec4 results(const uvec4 x, const uvec4 s, const Divisor one, const uvec4 z) {
  if ((TO & kTypeFloat) != 0u)
    return uvec4(dequantized(x.x, s.x, z.x), dequantized(x.y, s.y, z.y), dequantized(x.z, s.z, z.z),
                 dequantized(x.w, s.w, z.w));
  const vec4 numbers = vec4(floatOf(x.x, FROM), floatOf(x.y, FROM), floatOf(x.z, FROM), floatOf(x.w, FROM));
  const uvec4 bits = floatBitsToUint(numbers);
  if (SCALES == kOneScale) return quantized(quotientsOfOne(bits, one), z, TO);
  // Masks have few bits.
  return quantized(quotientsToRound(false, bits, s, push.uniformMask >> 16), z, TO);
}

void main() {
  uint item;
  if (!gridItem(push.count / (isWide() ? 8u : 4u), item)) return;
  const uvec4 at = ROW_VECTORS(item);
  // Zero points are of the integers' type.
  const uint zeroType = (TO & kTypeFloat) != 0u ? FROM : TO;
  Vector v = vectorOf_x(at.x, FROM, FROM);
  const Vector s = vectorOf_scale(at.y, scaleType(), push.scaleType);
  Vector z = vectorOf_zeroPoint(at.z, zeroType, zeroType);
  if (push.zeroAt != 1u) z = splat(push.zeroAt);
  const Divisor one = divisorOf(false, uintBitsToFloat(s.low.x));
  v.low = results(v.low, s.low, one, z.low);
  if (isWide()) v.high = results(v.high, s.high, one, z.high);
  store_y(at.w, TO, v);
}
