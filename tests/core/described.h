// Operations as the descriptions and lines that say them.
#pragma once

#include <cstring>
#include <string>

#include "core/operation.h"
#include "core/schema/desc_text.h"

namespace dimple::testing {

namespace detail {

inline void describe(OwnedDesc& desc, const Tensor& tensor, DML_TENSOR_DESC& target) {
  const bool packed = sameLayout(tensor, packedTensor(tensor.type, tensor.sizeSpan()));
  desc.setTensor(target, tensor.type, tensor.sizeSpan(), packed ? std::span<const uint32_t>() : tensor.strideSpan(),
                 tensor.totalBytes, tensor.ownedByDml ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE,
                 tensor.baseAlignment > DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT ? tensor.baseAlignment : 0);
}

inline DML_OPERATOR_DESC describe(OwnedDesc& desc, const Activation& activation) {
  const OpSchema& schema = *findSchema(activation.type);
  auto* fields = desc.allocate<std::byte>(schema.descBytes);
  size_t next = 0;
  for (const Field& f : schema.fields)
    if (f.type == FieldType::Float)
      *reinterpret_cast<FLOAT*>(fields + f.offset) = activation.parameters[next++];
    else if (f.type == FieldType::UIntArray)
      *reinterpret_cast<const UINT**>(fields + f.offset) = desc.store(std::span<const UINT>(activation.axes));
    else if (f.type == FieldType::UInt)
      *reinterpret_cast<UINT*>(fields + f.offset) = static_cast<UINT>(activation.axes.size());
  return {activation.type, fields};
}

}  // namespace detail

// The line of an operation that a description says: parseCase() reads it.
inline std::string lineOf(const Operation& op) {
  const OpSchema& schema = op.schema();
  OwnedDesc desc(schema);
  std::memcpy(desc.root(), &op.as<std::byte>(), schema.descBytes);
  size_t input = 0, output = 0, activation = 0;
  for (const Field& field : schema.fields) {
    const bool isOperator = field.type == FieldType::Operator || field.type == FieldType::OperatorArray;
    if (!isOperator && !isTensor(field)) continue;
    const size_t count =
        field.countField < 0 ? 1 : desc.field<UINT>(schema.fields[static_cast<size_t>(field.countField)]);
    if (isOperator) {
      if (activation == op.activations().size()) continue;
      auto* operators = desc.allocate<DML_OPERATOR_DESC>(count);
      for (size_t i = 0; i < count; ++i) operators[i] = detail::describe(desc, op.activations()[activation++]);
      desc.field<const DML_OPERATOR_DESC*>(field) = operators;
      continue;
    }
    auto* tensors = desc.allocate<DML_TENSOR_DESC>(count);
    bool present = false;
    for (size_t i = 0; i < count; ++i) {
      const Tensor& tensor = field.role == Role::Input ? op.input(input++) : op.output(output++);
      present |= tensor.present();
      if (tensor.present()) detail::describe(desc, tensor, tensors[i]);
    }
    desc.field<const DML_TENSOR_DESC*>(field) = present ? tensors : nullptr;
  }
  return formatCase(desc.desc());
}

}  // namespace dimple::testing
