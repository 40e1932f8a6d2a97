#version 460
#extension GL_GOOGLE_include_directive : require
#define T u32
#include "common/types.glsl"

// Packed tensors, or rows of vectors (elementwise/row_places.glsl). FROM, TO: their types as any_type.glsl has them. An
// invocation takes eight elements, or four where results are 32 bits wide; with TURNED a block whose vectors in x lie
// along its columns (elementwise/blocks.glsl).
#include "common/grid.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"
#if TURNED
#include "elementwise/blocks.glsl"

bool isWide() { return false; }
#else
#define ROWS 1
#include "elementwise/row_places.glsl"

bool isWide() { return typeWidth(TO) < 5u; }
#endif

#include "quantize/any_vectors.glsl"

ANY_VECTORS_IN(x)
ANY_VECTORS_OUT(y)

// Rounded once: two exact halves.
float floatOfInteger(const uint x, const bool isSigned) {
  const float high = isSigned ? float(int(x) >> 16) : float(x >> 16);
  return high * 65536.0 + float(x & 0xffffu);
}

// Floats saturate, and NaN becomes 0. The low 32 bits of integers saturate.
uint converted(const uint x) {
  if ((TO & kTypeFloat) != 0u) {
    if ((FROM & kTypeFloat) != 0u) return x;
    if (typeWidth(FROM) < 5u) return floatBitsToUint(float(int(x)));
    return floatBitsToUint(floatOfInteger(x, (FROM & kTypeSigned) != 0u));
  }
  const uint bits = 1u << typeWidth(TO);
  const bool isSigned = (TO & kTypeSigned) != 0u;
  const uint most = 0xffffffffu >> (32u - bits) >> uint(isSigned);
  const int least = -1 - int(most);
  if ((FROM & kTypeFloat) == 0u) return isSigned ? uint(clamp(int(x), least, int(most))) : min(x, most);
  const float value = uintBitsToFloat(x);
  if (isNan(value)) return 0u;
  if (isSigned) return value <= float(least) ? uint(least) : value >= float(int(most)) ? most : uint(int(value));
  return value <= 0.0 ? 0u : value >= float(most) ? most : uint(value);
}

uvec4 allConverted(const uvec4 v) {
  return uvec4(converted(v.x), converted(v.y), converted(v.z), converted(v.w));
}

#if TURNED
void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = blockPlaces(item);
  Block v;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) v.row[i] = load_x(at.x + i * push.xStep, FROM).low;
  v = rowsOfColumns(v);
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    store_y(at.y + i * push.yStep, TO, Vector(allConverted(v.row[i]), uvec4(0u)));
}
#else
void main() {
  uint item;
  if (!gridItem(push.count / (isWide() ? 8u : 4u), item)) return;
  const uvec4 at = ROW_VECTORS(item);
  Vector v = load_x(at.x, FROM);
  v.low = allConverted(v.low);
  if (isWide()) v.high = allConverted(v.high);
  store_y(at.y, TO, v);
}
#endif
