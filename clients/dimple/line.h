// Operators as lines of text on the command line.
#pragma once

#include <string>

#include "core/schema/desc_text.h"

namespace dimple::tool {

// The refusal of a line that leaves fields out.
std::string missingText(const CaseText& line);

}  // namespace dimple::tool
