// A parsed DML_BUFFER_TENSOR_DESC: sizes, strides and extent in checked 64-bit arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/data_type.h"
#include "core/directml.h"
#include "core/result.h"

namespace dimple {

constexpr uint32_t kMaxRank = DML_TENSOR_DIMENSION_COUNT_MAX1;

struct Tensor {
  DataType type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  uint32_t rank = 0;  // 0: an optional tensor that is absent
  std::array<uint32_t, kMaxRank> sizes{};
  std::array<uint32_t, kMaxRank> strides{};  // in elements; packed row-major strides if the description gave none
  uint64_t elements = 0;                     // product of sizes
  uint64_t extent = 0;                       // elements from the first to the last addressed one, both included
  uint64_t totalBytes = 0;                   // TotalTensorSizeInBytes
  uint32_t baseAlignment = 16;               // bytes; the base offset of a binding is a multiple of it
  bool ownedByDml = false;

  bool present() const { return rank != 0; }
  // Bytes of the 32-bit words that hold the extent; several 4-bit elements share a byte.
  uint64_t spannedBytes() const { return (extent * bitWidth(type) + 31) / 32 * 4; }
  std::span<const uint32_t> sizeSpan() const { return {sizes.data(), rank}; }
  std::span<const uint32_t> strideSpan() const { return {strides.data(), rank}; }
};

bool sameSizes(const Tensor& a, const Tensor& b);
// The same type, sizes and strides.
bool sameLayout(const Tensor& a, const Tensor& b);

// Whether each element lies behind the one before, in row-major order.
bool isPacked(const Tensor& tensor);

// A packed tensor that no description gives; its size in bytes and the alignment of its binding are not set.
Tensor packedTensor(DataType type, std::span<const uint32_t> sizes);

// The bytes that a tensor of these sizes and strides (empty: packed) occupies, rounded up to 4, as the DirectML helper
// DMLCalcBufferTensorSize defines them, but without its 32-bit overflow. No value if the result exceeds 64 bits.
std::optional<uint64_t> impliedBytes(DataType type, std::span<const uint32_t> sizes, std::span<const uint32_t> strides);

// The same elements in other places. `totalBytes` of 0 stands for what the strides imply. Refuses what parseTensor()
// would refuse.
Result<Tensor> withStrides(const Tensor& tensor, std::span<const uint32_t> strides, uint64_t totalBytes = 0);

// Parses and checks one description by the rules of the DML_BUFFER_TENSOR_DESC page. `field` is its name in messages.
// The description's pointers must be readable for DimensionCount elements.
Result<Tensor> parseTensor(std::string_view field, const DML_TENSOR_DESC* desc);

}  // namespace dimple
