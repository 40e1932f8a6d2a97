#include "tests/conformance/main_type.h"

namespace dimple::testing {

DataType mainType(const DML_OPERATOR_DESC& desc) {
  const OpSchema* schema = findSchema(desc.Type);
  const TensorRule* rule = schema ? mainRule(*schema) : nullptr;
  if (!rule) return DML_TENSOR_DATA_TYPE_UNKNOWN;
  const TensorRule* next = schema->rules.data();
  for (const Field& field : schema->fields) {
    if (!isTensor(field)) continue;
    if (next++ != rule) continue;
    if (field.type == FieldType::TensorArray && countOf(*schema, desc.Desc, field) == 0) break;
    const auto* tensor = fieldValue<const DML_TENSOR_DESC*>(desc.Desc, field);
    if (tensor && tensor->Desc) return static_cast<const DML_BUFFER_TENSOR_DESC*>(tensor->Desc)->DataType;
  }
  return DML_TENSOR_DATA_TYPE_UNKNOWN;
}

}  // namespace dimple::testing
