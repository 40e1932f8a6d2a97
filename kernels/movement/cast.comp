#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "directml_enums.glsl"

// T is the destination; the source's type is a specialization constant, since its loads are a few instructions.
#include "common/grid.glsl"
#include "common/walk.glsl"
#include "common/numbers.glsl"

layout(set = 0, binding = BINDING_x, std430) readonly buffer xBuffer { uint x[]; };
TENSOR_OUT(y)

uint loadByte(uint i) { return x[i / 4u] >> (i % 4u * 8u) & 0xffu; }
uint loadShort(uint i) { return x[i / 2u] >> (i % 2u * 16u) & 0xffffu; }
uvec2 signExtend(uint v) { return uvec2(v, uint(int(v) >> 31)); }

bool sourceIsFloat() {
  return SOURCE == DML_TENSOR_DATA_TYPE_FLOAT16 || SOURCE == DML_TENSOR_DATA_TYPE_FLOAT32 ||
         SOURCE == DML_TENSOR_DATA_TYPE_FLOAT64;
}
bool sourceIsSigned() {
  return SOURCE == DML_TENSOR_DATA_TYPE_INT8 || SOURCE == DML_TENSOR_DATA_TYPE_INT16 ||
         SOURCE == DML_TENSOR_DATA_TYPE_INT32 || SOURCE == DML_TENSOR_DATA_TYPE_INT64;
}

// A source element: the bits of a float, or an integer extended to 64 bits by its signedness.
uvec2 loadSource(uint i) {
  switch (SOURCE) {
    case DML_TENSOR_DATA_TYPE_UINT8: return uvec2(loadByte(i), 0u);
    case DML_TENSOR_DATA_TYPE_INT8: return signExtend(uint(bitfieldExtract(int(loadByte(i)), 0, 8)));
    case DML_TENSOR_DATA_TYPE_FLOAT16:
    case DML_TENSOR_DATA_TYPE_UINT16: return uvec2(loadShort(i), 0u);
    case DML_TENSOR_DATA_TYPE_INT16: return signExtend(uint(bitfieldExtract(int(loadShort(i)), 0, 16)));
    case DML_TENSOR_DATA_TYPE_FLOAT32:
    case DML_TENSOR_DATA_TYPE_UINT32: return uvec2(x[i], 0u);
    case DML_TENSOR_DATA_TYPE_INT32: return signExtend(x[i]);
    case DML_TENSOR_DATA_TYPE_FLOAT64:
    case DML_TENSOR_DATA_TYPE_UINT64:
    case DML_TENSOR_DATA_TYPE_INT64: return uvec2(x[i * 2u], x[i * 2u + 1u]);
  }
  return uvec2(0u);
}

Number decodeSource(uvec2 bits) {
  switch (SOURCE) {
    case DML_TENSOR_DATA_TYPE_FLOAT16: return decodeFloat(bits, kHalf);
    case DML_TENSOR_DATA_TYPE_FLOAT32: return decodeFloat(bits, kSingle);
    case DML_TENSOR_DATA_TYPE_FLOAT64: return decodeFloat(bits, kDouble);
  }
  return decodeInteger(bits, sourceIsSigned());
}

#if T == f16 || T == f32 || T == f64
uvec2 convert(uvec2 bits) {
#if T == f16
  if (SOURCE == DML_TENSOR_DATA_TYPE_FLOAT32) return uvec2(halfFromFloat(uintBitsToFloat(bits.x)), 0u);
  return encodeFloat(decodeSource(bits), kHalf);
#elif T == f32
  if (SOURCE == DML_TENSOR_DATA_TYPE_FLOAT16) return uvec2(floatBitsToUint(floatFromHalf(bits.x)), 0u);
  return encodeFloat(decodeSource(bits), kSingle);
#else
  return encodeFloat(decodeSource(bits), kDouble);
#endif
}
#else
#if T == i8 || T == i16 || T == i32 || T == i64
#define DESTINATION_IS_SIGNED true
#else
#define DESTINATION_IS_SIGNED false
#endif
// Floats saturate. Integers lose all but their low 32 bits, which the destination's signedness reads before 8- and
// 16-bit destinations saturate; 64-bit destinations take the integer as it is.
uvec2 convert(uvec2 bits) {
  if (sourceIsFloat()) return truncateNumber(decodeSource(bits), T_BITS, DESTINATION_IS_SIGNED);
#if T_BITS < 32
  if (DESTINATION_IS_SIGNED)
    bits.x = uint(clamp(int(bits.x), -1 - int(T_MASK >> 1), int(T_MASK >> 1)));
  else
    bits.x = min(bits.x, T_MASK);
#endif
  return bits;
}
#endif

void main() {
  uint item;
  if (!gridItem(push.count, item)) return;
  const uvec4 at = walkOffsets(0u, push.rank, item);
  const uvec2 result = convert(loadSource(at.x));
#if T_BITS == 64
  storeRaw_y(at.y, result);
#else
  storeRaw_y(at.y, result.x);
#endif
}
