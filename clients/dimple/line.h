// Operators as lines of text on the command line.
#pragma once

#include <string>
#include <vector>

#include "core/schema/desc_text.h"

namespace dimple::tool {

// The names of all operators.
std::vector<std::string> operatorNames();

// Reads an operator as text. Throws InputError, which names an operator that a misspelt name probably means.
CaseText readLine(const std::string& line);

// The refusal of a line that leaves fields out.
std::string missingText(const CaseText& line);

}  // namespace dimple::tool
