// The data type that an operator is said to support: that of its main tensor. Of the tensors of an operator the main
// one is the first whose rule allows the most data types: the values of a gather, not its indices. Arrays of tensors
// come after single ones.
#pragma once

#include "core/data_type.h"
#include "core/directml.h"

namespace dimple {

struct OpSchema;
struct TensorRule;

// The rule of the main tensor; null for a schema without tensors.
const TensorRule* mainRule(const OpSchema& schema);

// Its data type in a description, which need not be valid; UNKNOWN if it is absent, of an array without elements, or
// the operator has no schema.
DataType mainType(const DML_OPERATOR_DESC& desc);

}  // namespace dimple
