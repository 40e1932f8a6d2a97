// What a name that is not known was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dimple::tool {

// The end of a refusal of `name`: "; did you mean ATensor? There are ATensor, BTensor." Where candidates are many, only
// those that are near are named.
std::string candidatesText(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dimple::tool
