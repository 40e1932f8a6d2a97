#include "core/schema/desc_copy.h"

#include <cstddef>
#include <cstring>
#include <optional>

#include "core/checked.h"
#include "core/tensor.h"

namespace dimple {
namespace {

// Every array element and structure needs at most this.
constexpr size_t kAlignment = alignof(std::max_align_t);

// Bytes of a copy of what a field points to: tensors and fused activations are not copied. No value if the field is no
// pointer.
std::optional<size_t> copiedBytes(const OpSchema& schema, const void* desc, const Field& field) {
  switch (field.type) {
    case FieldType::Tensor:
    case FieldType::TensorArray:
    case FieldType::Operator:
    case FieldType::OperatorArray:
      return 0;
    case FieldType::ScaleBias:
      return fieldValue<const void*>(desc, field) ? sizeof(DML_SCALE_BIAS) : 0;
    case FieldType::UIntArray:
    case FieldType::IntArray:
    case FieldType::FloatArray:
      static_assert(sizeof(UINT) == 4 && sizeof(INT) == 4 && sizeof(FLOAT) == 4);
      return fieldValue<const void*>(desc, field) ? size_t{4} * countOf(schema, desc, field) : 0;
    default:
      return {};
  }
}

}  // namespace

OwnedDesc::OwnedDesc(const OpSchema& schema) : schema_(&schema), root_(allocateBytes(schema.descBytes)) {}

std::byte* OwnedDesc::allocateBytes(size_t bytes) {
  // Operator new[] aligns to at least 16 bytes, which every description structure and array element needs at most.
  blocks_.push_back(std::make_unique<std::byte[]>(bytes ? bytes : 1));
  return blocks_.back().get();
}

void OwnedDesc::setTensor(DML_TENSOR_DESC& target, DML_TENSOR_DATA_TYPE type, std::span<const uint32_t> sizes,
                          std::span<const uint32_t> strides, uint64_t totalBytes, DML_TENSOR_FLAGS flags,
                          uint32_t alignment) {
  auto* buffer = allocate<DML_BUFFER_TENSOR_DESC>(1);
  buffer->DataType = type;
  buffer->Flags = flags;
  buffer->DimensionCount = static_cast<UINT>(sizes.size());
  buffer->Sizes = store(sizes);
  buffer->Strides = strides.empty() ? nullptr : store(strides);
  buffer->TotalTensorSizeInBytes = totalBytes ? totalBytes : impliedBytes(type, sizes, strides).value_or(0);
  buffer->GuaranteedBaseOffsetAlignment = alignment;
  target = {DML_TENSOR_TYPE_BUFFER, buffer};
}

std::shared_ptr<void> copyAttributes(const OpSchema& schema, const void* desc) {
  size_t total = alignUp(schema.descBytes, kAlignment);
  for (const Field& field : schema.fields) total += alignUp(copiedBytes(schema, desc, field).value_or(0), kAlignment);
  const auto block = std::make_shared<std::max_align_t[]>(divideUp(total, sizeof(std::max_align_t)));
  auto* const copy = reinterpret_cast<std::byte*>(block.get());
  std::memcpy(copy, desc, schema.descBytes);
  std::byte* next = copy + alignUp(schema.descBytes, kAlignment);
  for (const Field& field : schema.fields) {
    const auto bytes = copiedBytes(schema, desc, field);
    if (!bytes) continue;
    const void* to = *bytes != 0 ? next : nullptr;
    if (to) std::memcpy(next, fieldValue<const void*>(desc, field), *bytes);
    std::memcpy(copy + field.offset, &to, sizeof to);
    next += alignUp(*bytes, kAlignment);
  }
  return {block, copy};
}

}  // namespace dimple
