// The data type that an operator is said to support, and cases are counted by: that of its main tensor.
#pragma once

#include "core/schema/op_schema.h"

namespace dimple::testing {

// The data type of the main tensor (mainRule) in a description, which need not be valid; UNKNOWN if it is absent, of an
// array without elements, or the operator has no schema.
DataType mainType(const DML_OPERATOR_DESC& desc);

}  // namespace dimple::testing
