// Operator descriptions to accept and to refuse: written valid ones, and what one change makes of each.
#pragma once

#include <string>
#include <vector>

namespace dimple::testing {

// The lines of tests/core/descriptions/*.txt: valid descriptions, several of every operator, in the notation of
// core/desc_text.h. Comments begin with #.
std::vector<std::string> writtenDescriptions();

// The lines of tests/core/descriptions/*.refused.txt, which break rules that no variation reaches.
std::vector<std::string> refusedDescriptions();

// The description with one thing changed at a time: data types (of one tensor, or of all that share it), sizes, ranks,
// flags, strides, values and lengths of attributes, fields left out. Most are broken; some are as good as the original.
// The same every time.
std::vector<std::string> variationsOf(const std::string& line);

}  // namespace dimple::testing
