// What the schema says of an operator, for people.
#pragma once

#include <string>

#include "core/schema/op_schema.h"

namespace dimple::tool {

// Markdown: a heading, its tensors with data types and ranks by feature level, its attributes.
std::string rulesText(const OpSchema& schema);

// That of all operators, as docs/operators.md has it.
std::string allRulesText();

}  // namespace dimple::tool
