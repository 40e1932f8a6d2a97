// Makes the case lines of an operator for one data type: the same ones in every run.
#pragma once

#include <string>
#include <vector>

#include "core/schema/op_schema.h"

namespace dimple::testing {

// The data types of the operator's main tensor, each of which has cases of its own.
std::vector<DataType> generatedTypes(const OpSchema& schema);

// Empty if nothing is known of the operator: its tensors differ in size and it has no generator.
std::vector<std::string> generateCases(const OpSchema& schema, DataType type);

}  // namespace dimple::testing
