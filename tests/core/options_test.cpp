// The table of options, and what is refused of the text that sets them.
#include "core/options.h"

#include <doctest.h>

#include <set>

#include "core/graph/pass.h"
#include "core/text.h"
#include "tests/conformance/options_text.h"

namespace dimple::testing {
namespace {

std::string refusalOf(std::string_view text) {
  const auto options = parseOptions(text);
  return options ? std::string() : options.error().text;
}

TEST_CASE("options: what is named is set, the rest stays") {
  CHECK(*parseOptions("") == Options{});
  const auto set = parseOptions("views=0,work=4096,unroll=0,");
  REQUIRE(set);
  CHECK_FALSE(runsPass(*set, "views"));
  CHECK(runsPass(*set, "chains"));
  CHECK(set->work == 4096);
  CHECK_FALSE(set->unroll);
  CHECK(set->estimates);
  const auto shapes = parseOptions("matrices=16x8x16,integer-matrices=16x8x32");
  REQUIRE(shapes);
  CHECK(shapes->matrices == MatrixShape{16, 8, 16});
  CHECK(shapes->integerMatrices == MatrixShape{16, 8, 32});
  // The last of several counts, and a second text comes on top.
  CHECK(parseOptions("work=1,work=2")->work == 2);
  const auto both = parseOptions("views=1", *set);
  CHECK(runsPass(*both, "views"));
  CHECK(both->work == 4096);
}

TEST_CASE("options: each pass is one, and all together") {
  const Options none = *parseOptions("passes=0");
  const Options one = *parseOptions("passes=0,chains=1");
  for (const Pass& pass : allPasses()) {
    CAPTURE(pass.name);
    CHECK_FALSE(runsPass(none, pass.name));
    CHECK(runsPass(one, pass.name) == (pass.name == "chains"));
    CHECK_FALSE(runsPass(optionsWithout(pass.name), pass.name));
  }
}

TEST_CASE("options: rows say all of themselves, and their fallbacks are the defaults") {
  std::set<std::string_view> names;
  for (const OptionRow& row : optionRows()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.sentence.ends_with("."));
    CHECK(row.reason.ends_with("."));
    CHECK(*parseOptions(std::string(row.name) + "=" + std::string(row.fallback)) == Options{});
  }
}

TEST_CASE("options: names and values that there are not are refused") {
  CHECK(refusalOf("view=0").starts_with("\"view\" is not an option of this build, expected one of passes, repeated, "));
  CHECK(refusalOf("views") == "\"views\" is not an option with a value, expected NAME=VALUE.");
  CHECK(refusalOf("views=no") == "Option views has value (no), expected 0 or 1.");
  CHECK(refusalOf("work=many") == "Option work has value (many), expected a whole number.");
  CHECK(refusalOf("work=-1") == "Option work has value (-1), expected a whole number.");
  CHECK(refusalOf("work=99999999999999999999") ==
        "Option work has value (99999999999999999999), expected a whole number.");
  CHECK(refusalOf("work=") == "Option work has value (), expected a whole number.");
  for (const std::string_view value : {"16", "16x8", "16x8x", "16x8x8x8", "x8x8", "16x8x0", "16x8x-8", "16X8X8"})
    CHECK(refusalOf(cat("matrices=", value)) ==
          cat("Option matrices has value (", value, "), expected ROWSxCOLUMNSxDEPTH."));
}

}  // namespace
}  // namespace dimple::testing
