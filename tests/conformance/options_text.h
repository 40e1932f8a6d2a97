// Options of tests, by the names of what is left out.
#pragma once

#include <string>
#include <string_view>

#include "core/options.h"
#include "core/text.h"

namespace dimple::testing {

// "views,estimates" as "views=0,estimates=0".
inline std::string leaveOut(std::string_view names) {
  std::string text;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    text += cat(text.empty() ? "" : ",", name, "=0");
    names.remove_prefix(std::min(name.size() + 1, names.size()));
  }
  return text;
}

// The options without what is named, which must exist.
inline Options optionsWithout(std::string_view names) { return *parseOptions(leaveOut(names)); }

}  // namespace dimple::testing
