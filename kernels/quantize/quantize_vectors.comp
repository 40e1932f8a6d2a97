#version 460
#extension GL_GOOGLE_include_directive : require
#define T u32
#include "common/types.glsl"

// quantize.comp for packed tensors, or rows of vectors (elementwise/row_places.glsl), of whose operands each moves along
// the rows, or stands still as uniformMask says. FROM, TO: types of x and y. An invocation takes eight elements, or four
// where results are 32 bits wide.
#include "common/grid.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"
#define ROWS 1
#include "elementwise/row_places.glsl"

bool isWide() { return typeWidth(TO) < 5u || typeWidth(FROM) < 3u; }

#include "quantize/any_vectors.glsl"

ANY_VECTORS_IN(x)
ANY_VECTORS_IN(scale)
ANY_VECTORS_IN(zeroPoint)
ANY_VECTORS_OUT(y)

bool isUniform(uint operand) { return (push.uniformMask >> operand & 1u) != 0u; }

// An element as floatFrom() has it.
float floatOf(const uint bits, const uint type) {
  if ((type & kTypeFloat) != 0u) return uintBitsToFloat(bits);
  return (type & kTypeSigned) != 0u ? float(int(bits)) : float(bits);
}

uint result(const uint x, const uint s, const uint z) {
  if ((TO & kTypeFloat) != 0u) return floatBitsToUint(differenceOf(x, z, FROM) * uintBitsToFloat(s));
  return quantized(quotientToRound(floatOf(x, FROM), uintBitsToFloat(s)), floatOf(z, TO), TO);
}
uvec4 results(const uvec4 x, const uvec4 s, const uvec4 z) {
  return uvec4(result(x.x, s.x, z.x), result(x.y, s.y, z.y), result(x.z, s.z, z.z), result(x.w, s.w, z.w));
}

void main() {
  uint item;
  if (!gridItem(push.count / (isWide() ? 8u : 4u), item)) return;
  const uvec4 at = ROW_VECTORS(item);
  // Zero points are of the integers' type.
  const uint zeroType = (TO & kTypeFloat) != 0u ? FROM : TO;
  Vector v, s, z;
  if (isUniform(0u))
    v = splat(loadOne_x(STANDING(at.x), FROM));
  else
    v = load_x(at.x, FROM);
  if (isUniform(1u))
    s = splat(loadOne_scale(STANDING(at.y), push.scaleType));
  else
    s = load_scale(at.y, push.scaleType);
  if (push.zeroAt != 1u)
    z = splat(push.zeroAt);
  else if (isUniform(2u))
    z = splat(loadOne_zeroPoint(STANDING(at.z), zeroType));
  else
    z = load_zeroPoint(at.z, zeroType);
  v.low = results(v.low, s.low, z.low);
  if (isWide()) v.high = results(v.high, s.high, z.high);
  store_y(at.w, TO, v);
}
