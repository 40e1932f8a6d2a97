#include "api/options.h"

#include <array>
#include <cstdlib>

#include "core/text.h"

namespace dimple::api {
namespace {

// Variables of earlier versions, and what replaces them.
constexpr std::array kReplaced = {
    std::pair{"DIMPLE_GRAPH_WITHOUT", "DIMPLE_OPTIONS=views=0, or another pass"},
    std::pair{"DIMPLE_UNROLL", "DIMPLE_OPTIONS=unroll=0"},
    std::pair{"DIMPLE_KERNEL_DIR", "DIMPLE_OPTIONS=kernels=FOLDER in a developer build"},
};

Result<Options> parseFrom(std::string_view where, const char* text, Options options) {
  auto parsed = parseOptions(text ? text : "", std::move(options));
  if (!parsed) parsed.error().text = cat(where, ": ", parsed.error().text);
  return parsed;
}

}  // namespace

Result<Options> readOptions(const char* given) {
  for (const auto& [variable, instead] : kReplaced)
    if (std::getenv(variable))
      return invalid(cat("The environment variable ", variable, " is set, expected ", instead, "."));
  auto options = parseFrom("DIMPLE_OPTIONS", std::getenv("DIMPLE_OPTIONS"), {});
  TRY(options);
  return parseFrom("Options", given, std::move(*options));
}

}  // namespace dimple::api
