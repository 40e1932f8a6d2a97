// The JSON that a page of a report holds.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tool/tool_fixture.h"

namespace dimple::testing {

// null if there is none, or no valid one.
inline nlohmann::json reportOf(const std::filesystem::path& page) {
  const std::string text = readText(page);
  const std::string mark = "<script type=\"application/json\" id=\"report\">";
  const auto begin = text.find(mark);
  if (begin == text.npos) return nullptr;
  const auto first = begin + mark.size();
  const auto json = nlohmann::json::parse(text.substr(first, text.find("</script>", first) - first), nullptr, false);
  return json.is_discarded() ? nlohmann::json() : json;
}

// Whether this build can write pages with plots.
#ifdef DIMPLE_WITH_PLOTS
inline constexpr bool kWithPlots = true;
#else
inline constexpr bool kWithPlots = false;
#endif

}  // namespace dimple::testing
