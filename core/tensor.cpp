#include "core/tensor.h"

#include <algorithm>
#include <bit>

#include "core/checked.h"
#include "core/text.h"

namespace dimple {
namespace {

// Index of the last addressed element.
std::optional<uint64_t> lastIndex(std::span<const uint32_t> sizes, std::span<const uint32_t> strides) {
  uint64_t last = 0;
  if (strides.empty()) {
    uint64_t count = 1;
    for (uint32_t size : sizes)
      if (!checkedMultiply(count, size, count)) return std::nullopt;
    return count - 1;
  }
  // A product of two 32-bit factors fits 64 bits; only the sum can overflow.
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!checkedAdd(last, uint64_t{sizes[d] - 1} * strides[d], last)) return std::nullopt;
  return last;
}

}  // namespace

bool sameLayout(const Tensor& a, const Tensor& b) {
  return a.type == b.type && sameSizes(a, b) && std::ranges::equal(a.strideSpan(), b.strideSpan());
}

bool sameSizes(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.sizes.begin(), a.sizes.begin() + a.rank, b.sizes.begin());
}

bool isPacked(const Tensor& tensor) {
  uint64_t packed = 1;
  for (uint32_t d = tensor.rank; d-- > 0; packed *= tensor.sizes[d])
    if (tensor.sizes[d] > 1 && tensor.strides[d] != packed) return false;
  return true;
}

Tensor packedTensor(DataType type, std::span<const uint32_t> sizes) {
  Tensor tensor;
  tensor.type = type;
  tensor.rank = static_cast<uint32_t>(sizes.size());
  tensor.elements = 1;
  for (uint32_t d = tensor.rank; d-- > 0; tensor.elements *= sizes[d]) {
    tensor.sizes[d] = sizes[d];
    tensor.strides[d] = static_cast<uint32_t>(tensor.elements);
  }
  tensor.extent = tensor.elements;
  return tensor;
}

std::optional<uint64_t> impliedBytes(DataType type, std::span<const uint32_t> sizes,
                                     std::span<const uint32_t> strides) {
  const auto last = lastIndex(sizes, strides);
  uint64_t count = 0;
  uint64_t bits = 0;
  if (!last || !checkedAdd(*last, 1, count) || !checkedMultiply(count, bitWidth(type), bits)) return std::nullopt;
  uint64_t rounded = 0;
  if (!checkedAdd(bits, 31, rounded)) return std::nullopt;
  return rounded / 32 * 4;
}

Result<Tensor> parseTensor(std::string_view field, const DML_TENSOR_DESC* desc) {
  if (!desc) return invalid(cat(field, " is null, but it is required."));
  if (desc->Type != DML_TENSOR_TYPE_BUFFER)
    return invalid(cat(field, " has Type (", static_cast<int>(desc->Type), "), expected DML_TENSOR_TYPE_BUFFER (1)."));
  if (!desc->Desc) return invalid(cat(field, " has a null Desc, expected a DML_BUFFER_TENSOR_DESC."));
  const auto& buffer = *static_cast<const DML_BUFFER_TENSOR_DESC*>(desc->Desc);

  Tensor tensor;
  tensor.type = buffer.DataType;
  if (bitWidth(buffer.DataType) == 0)
    return invalid(
        cat(field, " has DataType (", static_cast<int>(buffer.DataType), "), which is not a DML_TENSOR_DATA_TYPE."));
  const auto flags = static_cast<uint32_t>(buffer.Flags);
  if (flags & ~static_cast<uint32_t>(DML_TENSOR_FLAG_OWNED_BY_DML))
    return invalid(cat(field, " has Flags (", flags, "), expected NONE (0) or OWNED_BY_DML (1)."));
  tensor.ownedByDml = flags != 0;
  if (buffer.DimensionCount < 1 || buffer.DimensionCount > kMaxRank)
    return invalid(cat(field, " has DimensionCount (", buffer.DimensionCount, "), outside 1..", kMaxRank, "."));
  tensor.rank = buffer.DimensionCount;
  if (!buffer.Sizes) return invalid(cat(field, " has null Sizes, expected ", tensor.rank, " values."));

  tensor.elements = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    tensor.sizes[d] = buffer.Sizes[d];
    if (tensor.sizes[d] == 0) return invalid(cat(field, " has Sizes[", d, "] (0), expected at least 1."));
  }
  for (uint32_t d = 0; d < tensor.rank; ++d)
    if (!checkedMultiply(tensor.elements, tensor.sizes[d], tensor.elements) || tensor.elements > UINT32_MAX)
      return invalid(cat(field, " has Sizes ", listText(tensor.sizeSpan()), " of more than 4294967295 elements."));
  uint64_t packed = 1;
  for (uint32_t d = tensor.rank; d-- > 0;) {
    tensor.strides[d] = buffer.Strides ? buffer.Strides[d] : static_cast<uint32_t>(packed);
    packed *= tensor.sizes[d];
  }

  const auto last = lastIndex(tensor.sizeSpan(), tensor.strideSpan());
  const auto bytes = impliedBytes(tensor.type, tensor.sizeSpan(), tensor.strideSpan());
  if (!last || !bytes)
    return invalid(cat(field, " has Strides ", listText(tensor.strideSpan()), " that address more than 2^64 bytes."));
  tensor.extent = *last + 1;
  tensor.totalBytes = buffer.TotalTensorSizeInBytes;
  if (tensor.totalBytes < *bytes)
    return invalid(cat(field, " has TotalTensorSizeInBytes (", tensor.totalBytes, "), expected at least ", *bytes,
                       ", the size that its Sizes and Strides imply."));
  if (const uint64_t most = uint64_t{UINT32_MAX} * bitWidth(tensor.type) / 8; tensor.totalBytes > most)
    return invalid(cat(field, " has TotalTensorSizeInBytes (", tensor.totalBytes, "), expected at most ", most,
                       ", 4294967295 elements."));

  const uint32_t alignment = buffer.GuaranteedBaseOffsetAlignment;
  const uint32_t elementBytes = std::max(1u, bitWidth(tensor.type) / 8);
  if (alignment != 0 && (!std::has_single_bit(alignment) || alignment < elementBytes))
    return invalid(cat(field, " has GuaranteedBaseOffsetAlignment (", alignment,
                       "), expected 0 or a power of two of at least the element size (", elementBytes, ")."));
  tensor.baseAlignment = std::max(alignment, DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT);
  return tensor;
}

Result<Tensor> withStrides(const Tensor& tensor, std::span<const uint32_t> strides, uint64_t totalBytes) {
  if (totalBytes == 0) totalBytes = impliedBytes(tensor.type, tensor.sizeSpan(), strides).value_or(0);
  const auto flags = tensor.ownedByDml ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE;
  const DML_BUFFER_TENSOR_DESC buffer{tensor.type, flags, tensor.rank, tensor.sizes.data(), strides.data(),
                                      totalBytes,  0};
  const DML_TENSOR_DESC desc{DML_TENSOR_TYPE_BUFFER, &buffer};
  return parseTensor("Tensor", &desc);
}

}  // namespace dimple
