// Files that pages are made of: those of clients/dimple/report, and the scripts that tools/setup.sh --report fetches.
#pragma once

#include <cstddef>
#include <string_view>

namespace dimple::tool {

// Empty if this build has none of that name.
std::string_view reportFile(std::string_view name);

}  // namespace dimple::tool
