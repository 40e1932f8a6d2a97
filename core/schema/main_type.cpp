#include "core/schema/main_type.h"

#include <bit>

#include "core/schema/op_schema.h"

namespace dimple {

const TensorRule* mainRule(const OpSchema& schema) {
  const TensorRule* main = nullptr;
  const TensorRule* next = schema.rules.data();
  bool isArray = false;
  for (const Field& field : schema.fields) {
    if (field.type != FieldType::Tensor && field.type != FieldType::TensorArray) continue;
    const TensorRule& rule = *next++;
    // An array of tensors has types of its own only where they differ among themselves.
    const bool better = !main || (isArray && field.type == FieldType::Tensor) ||
                        (isArray == (field.type == FieldType::TensorArray) &&
                         std::popcount(rule.types()) > std::popcount(main->types()));
    if (!better) continue;
    main = &rule;
    isArray = field.type == FieldType::TensorArray;
  }
  return main;
}

DataType mainType(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  const TensorRule* rule = schema ? mainRule(*schema) : nullptr;
  if (!rule) return DML_TENSOR_DATA_TYPE_UNKNOWN;
  const TensorRule* next = schema->rules.data();
  for (const Field& field : schema->fields) {
    if (field.type != FieldType::Tensor && field.type != FieldType::TensorArray) continue;
    if (next++ != rule) continue;
    const auto* fields = static_cast<const std::byte*>(desc.Desc);
    if (field.type == FieldType::TensorArray) {
      const Field& count = schema->fields[static_cast<size_t>(field.countField)];
      if (*reinterpret_cast<const UINT*>(fields + count.offset) == 0) break;
    }
    const auto* tensor = *reinterpret_cast<const DML_TENSOR_DESC* const*>(fields + field.offset);
    if (tensor && tensor->Desc) return static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc)->DataType;
  }
  return DML_TENSOR_DATA_TYPE_UNKNOWN;
}

}  // namespace dimple
