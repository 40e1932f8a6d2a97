#include "core/schema/desc_copy.h"

#include <cstring>

#include "core/tensor.h"

namespace dimple {

OwnedDesc::OwnedDesc(const OpSchema& schema) : schema_(&schema), root_(allocateBytes(schema.descBytes)) {}

OwnedDesc OwnedDesc::attributesOf(const OpSchema& schema, const void* desc) {
  OwnedDesc copy(schema);
  std::memcpy(copy.root_, desc, schema.descBytes);
  for (const Field& field : schema.fields) copy.own(field);
  return copy;
}

std::byte* OwnedDesc::allocateBytes(size_t bytes) {
  // Operator new[] aligns to at least 16 bytes, which every description structure and array element needs at most.
  blocks_.push_back(std::make_unique<std::byte[]>(bytes ? bytes : 1));
  return blocks_.back().get();
}

void OwnedDesc::own(const Field& field) {
  const auto copyArray = [&]<class T>(T*, size_t count) {
    auto& pointer = this->field<const T*>(field);
    if (pointer) pointer = store(std::span<const T>(pointer, count));
  };
  const auto count = [&] { return this->field<UINT>(schema_->fields[static_cast<size_t>(field.countField)]); };
  switch (field.type) {
    case FieldType::Tensor:
    case FieldType::TensorArray:
    case FieldType::Operator:
    case FieldType::OperatorArray:
      this->field<const void*>(field) = nullptr;
      break;
    case FieldType::ScaleBias:
      copyArray(static_cast<DML_SCALE_BIAS*>(nullptr), 1);
      break;
    case FieldType::UIntArray:
      copyArray(static_cast<UINT*>(nullptr), count());
      break;
    case FieldType::IntArray:
      copyArray(static_cast<INT*>(nullptr), count());
      break;
    case FieldType::FloatArray:
      copyArray(static_cast<FLOAT*>(nullptr), count());
      break;
    case FieldType::UInt:
    case FieldType::Int:
    case FieldType::Float:
    case FieldType::Bool:
    case FieldType::Enum:
    case FieldType::Scalar:
    case FieldType::Size2D:
      break;
  }
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

}  // namespace dimple
