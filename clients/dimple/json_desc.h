// Operator descriptions in JSON: the fields of the description structures by name, enumerators with or without their
// prefix, tensors as objects. Generic over the schema.
#pragma once

#include "clients/dimple/json_file.h"
#include "core/schema/desc_copy.h"
#include "core/schema/desc_text.h"

namespace dimple::tool {

// {"type": "ELEMENT_WISE_ADD", "desc": {"ATensor": {"DataType": "FLOAT32", "Sizes": [2,3]}, ...}}
OwnedDesc readOperator(const JsonValue& object);

// "FLOAT32" or "DML_TENSOR_DATA_TYPE_FLOAT32"
DataType readDataType(const JsonValue& field);

// The flags of a list of names, or one name. `names[i]` is the name of bit i without the prefix.
uint32_t readFlags(const JsonValue& field, std::string_view prefix, std::initializer_list<std::string_view> names);

}  // namespace dimple::tool
