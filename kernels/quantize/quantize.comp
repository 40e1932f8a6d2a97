#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"

// y = round(x / scale) + zero point, or with DEQUANTIZES (x - zero point) * scale. The zero point is zeroAt, and its
// binding that of the scale, or with 1 that of the binding.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/math.glsl"
#include "quantize/any_type.glsl"
#include "quantize/quotients.glsl"

ANY_IN(x)
ANY_IN(scale)
ANY_IN(zeroPoint)
ANY_OUT(y)

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const float s = floatFrom(loadAny_scale(at.y, push.scaleType), push.scaleType);
  // Zero points are of the integers' type.
  const uint type = DEQUANTIZES != 0u ? push.xType : push.yType;
  const uint z = push.zeroAt == 1u ? loadAny_zeroPoint(at.z, type) : push.zeroAt;
  const uint bits = loadAny_x(at.x, push.xType);
  if (DEQUANTIZES != 0u) {
    const float value = differenceOf(bits, z, type) * s;
    storeAny_y(at.w, push.yType, typeWidth(push.yType) == 5u ? floatBitsToUint(value) : halfFromFloat(value));
  } else {
    storeAny_y(at.w, push.yType, quantized(quotientToRound(floatFrom(bits, push.xType), s), z, type));
  }
}
