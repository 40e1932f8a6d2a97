#include "core/desc_copy.h"

#include <cstring>

#include "core/tensor.h"

namespace dimple {

OwnedDesc::OwnedDesc(const OpSchema& schema) : schema_(&schema), root_(allocateBytes(schema.descBytes)) {}

OwnedDesc::OwnedDesc(const DML_OPERATOR_DESC& desc) : schema_(findSchema(desc.Type)) {
  root_ = copyFields(*schema_, desc.Desc);
}

std::byte* OwnedDesc::allocateBytes(size_t bytes) {
  // Operator new[] aligns to at least 16 bytes, which every description structure and array element needs at most.
  blocks_.push_back(std::make_unique<std::byte[]>(bytes ? bytes : 1));
  return blocks_.back().get();
}

void OwnedDesc::copyTensor(DML_TENSOR_DESC& target, const DML_TENSOR_DESC& source) {
  const auto& buffer = *static_cast<const DML_BUFFER_TENSOR_DESC*>(source.Desc);
  auto* copy = allocate<DML_BUFFER_TENSOR_DESC>(1);
  *copy = buffer;
  copy->Sizes = store(std::span(buffer.Sizes, buffer.DimensionCount));
  if (buffer.Strides) copy->Strides = store(std::span(buffer.Strides, buffer.DimensionCount));
  target = {DML_TENSOR_TYPE_BUFFER, copy};
}

std::byte* OwnedDesc::copyFields(const OpSchema& schema, const void* source) {
  std::byte* root = allocateBytes(schema.descBytes);
  std::memcpy(root, source, schema.descBytes);
  const auto slot = [&]<class T>(const Field& field, T*) -> T& { return *reinterpret_cast<T*>(root + field.offset); };
  const auto count = [&](const Field& field) {
    return slot(schema.fields[static_cast<size_t>(field.countField)], static_cast<UINT*>(nullptr));
  };
  const auto copyArray = [&]<class T>(const Field& field, T*) {
    auto& pointer = slot(field, static_cast<const T**>(nullptr));
    if (pointer) pointer = store(std::span<const T>(pointer, count(field)));
  };
  for (const Field& field : schema.fields) {
    switch (field.type) {
      case FieldType::Tensor: {
        auto& pointer = slot(field, static_cast<const DML_TENSOR_DESC**>(nullptr));
        if (!pointer) break;
        auto* copy = allocate<DML_TENSOR_DESC>(1);
        copyTensor(*copy, *pointer);
        pointer = copy;
        break;
      }
      case FieldType::TensorArray: {
        auto& pointer = slot(field, static_cast<const DML_TENSOR_DESC**>(nullptr));
        if (!pointer) break;
        auto* copy = allocate<DML_TENSOR_DESC>(count(field));
        for (UINT i = 0; i < count(field); ++i) copyTensor(copy[i], pointer[i]);
        pointer = copy;
        break;
      }
      case FieldType::Operator: {
        auto& pointer = slot(field, static_cast<const DML_OPERATOR_DESC**>(nullptr));
        if (!pointer) break;
        auto* copy = allocate<DML_OPERATOR_DESC>(1);
        *copy = {pointer->Type, copyFields(*findSchema(pointer->Type), pointer->Desc)};
        pointer = copy;
        break;
      }
      case FieldType::OperatorArray: {
        auto& pointer = slot(field, static_cast<const DML_OPERATOR_DESC**>(nullptr));
        if (!pointer) break;
        auto* copy = allocate<DML_OPERATOR_DESC>(count(field));
        for (UINT i = 0; i < count(field); ++i)
          copy[i] = {pointer[i].Type, copyFields(*findSchema(pointer[i].Type), pointer[i].Desc)};
        pointer = copy;
        break;
      }
      case FieldType::ScaleBias: {
        auto& pointer = slot(field, static_cast<const DML_SCALE_BIAS**>(nullptr));
        if (pointer) pointer = store(std::span<const DML_SCALE_BIAS>(pointer, 1));
        break;
      }
      case FieldType::UIntArray:
        copyArray(field, static_cast<UINT*>(nullptr));
        break;
      case FieldType::IntArray:
        copyArray(field, static_cast<INT*>(nullptr));
        break;
      case FieldType::FloatArray:
        copyArray(field, static_cast<FLOAT*>(nullptr));
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
  return root;
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
