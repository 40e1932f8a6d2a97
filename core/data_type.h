// Properties of DML_TENSOR_DATA_TYPE.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/directml.h"

namespace dimple {

using DataType = DML_TENSOR_DATA_TYPE;

// A set of data types, one bit per type. Values that are not data types are in no set.
using TypeSet = uint32_t;

constexpr TypeSet typeBit(DataType type) { return uint32_t(type) < 32 ? TypeSet{1} << uint32_t(type) : 0; }

constexpr TypeSet kFloat16 = typeBit(DML_TENSOR_DATA_TYPE_FLOAT16);
constexpr TypeSet kFloat32 = typeBit(DML_TENSOR_DATA_TYPE_FLOAT32);
constexpr TypeSet kFloat64 = typeBit(DML_TENSOR_DATA_TYPE_FLOAT64);
constexpr TypeSet kInt8 = typeBit(DML_TENSOR_DATA_TYPE_INT8);
constexpr TypeSet kInt16 = typeBit(DML_TENSOR_DATA_TYPE_INT16);
constexpr TypeSet kInt32 = typeBit(DML_TENSOR_DATA_TYPE_INT32);
constexpr TypeSet kInt64 = typeBit(DML_TENSOR_DATA_TYPE_INT64);
constexpr TypeSet kUInt8 = typeBit(DML_TENSOR_DATA_TYPE_UINT8);
constexpr TypeSet kUInt16 = typeBit(DML_TENSOR_DATA_TYPE_UINT16);
constexpr TypeSet kUInt32 = typeBit(DML_TENSOR_DATA_TYPE_UINT32);
constexpr TypeSet kUInt64 = typeBit(DML_TENSOR_DATA_TYPE_UINT64);

constexpr TypeSet kFloats = kFloat16 | kFloat32;
constexpr TypeSet kInts4 = typeBit(DML_TENSOR_DATA_TYPE_INT4) | typeBit(DML_TENSOR_DATA_TYPE_UINT4);
constexpr TypeSet kInts8 = kInt8 | kUInt8;
constexpr TypeSet kInts32 = kInt32 | kUInt32;
constexpr TypeSet kInts64 = kInt64 | kUInt64;
constexpr TypeSet kIndices = kInts32 | kInts64;
constexpr TypeSet kUnsignedIndices = kUInt32 | kUInt64;
constexpr TypeSet kSigned8To32 = kInt8 | kInt16 | kInt32;
constexpr TypeSet kUnsigned8To32 = kUInt8 | kUInt16 | kUInt32;
constexpr TypeSet kInts8To32 = kSigned8To32 | kUnsigned8To32;
constexpr TypeSet kSignedInts = kSigned8To32 | kInt64;
constexpr TypeSet kUnsigned = kUnsigned8To32 | kUInt64;
constexpr TypeSet kInts = kInts8To32 | kInts64;
constexpr TypeSet kUpTo32 = kFloats | kInts8To32;
// The ten types of arithmetic operators, and the eleven of data movement.
constexpr TypeSet kNumbers = kFloats | kInts;
constexpr TypeSet kAllTypes = kNumbers | kFloat64;

// Width of one element in bits; 0 for UNKNOWN and for values that are not data types.
uint32_t bitWidth(DataType type);

// Width in bytes of a type of at least 8 bits.
inline uint32_t byteWidth(DataType type) { return bitWidth(type) / 8; }

// "FLOAT32"; "UNKNOWN" for UNKNOWN; empty for values that are not data types.
std::string_view dataTypeName(DataType type);

// The kernel spelling: "f32", "u8", ...
std::string_view shortTypeName(DataType type);

constexpr bool isFloat(DataType type) { return ((kFloats | kFloat64) & typeBit(type)) != 0; }
constexpr bool isSigned(DataType type) {
  return ((kFloats | kFloat64 | kSignedInts) & typeBit(type)) != 0 || type == DML_TENSOR_DATA_TYPE_INT4;
}

// How kernels/common/index.glsl is told a type of indices. Bit 0: 64-bit elements; bit 1: signed.
constexpr uint32_t indexKind(DataType type) {
  return ((kInts64 & typeBit(type)) != 0 ? 1u : 0u) | (isSigned(type) ? 2u : 0u);
}

// How a kernel that is told data types at run time is told (kernels/quantize/any_type.glsl).
uint32_t typeWord(DataType type);

}  // namespace dimple
