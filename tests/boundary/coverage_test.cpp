// Every method and function of the API has a step here, so that what is added is tried as the others are.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/boundary/step_names.h"

namespace dimple::testing {
namespace {

std::string textOf(const char* path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) FAIL("There is no text in ", path);
  return text;
}

// "IDMLDevice::CreateOperator" of each method that a header declares.
void addMethods(const std::string& header, std::vector<std::string>& names) {
  static const std::regex kLine(
      R"((?:^interface DML_DECLARE_INTERFACE\("[^"]*"\) (\w+)|^struct (\w+) : public IUnknown|)"
      R"((?:IFACEMETHOD|STDMETHOD)(?:_\([^,]*, (\w+)\)|\((\w+)\))|^DIMPLE_API [^(]* (\w+)\())",
      std::regex::multiline);
  std::string owner;
  for (std::sregex_iterator match(header.begin(), header.end(), kLine); match != std::sregex_iterator(); ++match) {
    const auto text = [&](size_t group) { return (*match)[group].str(); };
    if (!text(1).empty() || !text(2).empty()) owner = text(1) + text(2);
    if (!text(3).empty() || !text(4).empty()) names.push_back(owner + "::" + text(3) + text(4));
    if (!text(5).empty()) names.push_back(text(5));
  }
}

}  // namespace

TEST_CASE("boundary: every method and function of the headers has a step") {
  std::vector<std::string> declared;
  addMethods(textOf(DIMPLE_DIRECTML_HEADER), declared);
  CHECK(declared.size() >= 25);
  const size_t ofDirectML = declared.size();
  addMethods(textOf(DIMPLE_SOURCE_DIR "/api/include/dimple.h"), declared);
  CHECK(declared.size() >= ofDirectML + 13 + 11);
  auto steps = nullStepNames();
  const auto more = contextStepNames();
  steps.insert(steps.end(), more.begin(), more.end());
  for (const std::string& name : declared) {
    CAPTURE(name);
    const bool found = std::any_of(steps.begin(), steps.end(),
                                   [&](std::string_view step) { return step.substr(0, step.find(',')) == name; });
    CHECK(found);
  }
}

}  // namespace dimple::testing
