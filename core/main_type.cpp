#include "core/main_type.h"

#include <algorithm>
#include <bit>

namespace dimple {

const TensorRule* mainRule(const OpSchema& schema) {
  const auto rules = schema.rules;
  const auto main = std::max_element(rules.begin(), rules.end(), [](const TensorRule& a, const TensorRule& b) {
    return std::popcount(a.types()) < std::popcount(b.types());
  });
  return main == rules.end() ? nullptr : &*main;
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
