#include "tests/conformance/selection.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "core/schema/desc_text.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/main_type.h"

namespace dimple::testing {

bool Selection::wants(const OpSchema& schema) const {
  for (std::string_view rest = filter;;) {
    const size_t comma = rest.find(',');
    if (schema.name.find(rest.substr(0, comma)) != schema.name.npos) return true;
    if (comma == rest.npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

// A filter that no operator passes would pass every test.
static void checkFilter(const Selection& chosen) {
  if (std::ranges::none_of(allSchemas(), [&](const OpSchema* schema) { return chosen.wants(*schema); }))
    throw std::runtime_error("DIMPLE_TEST_FILTER is " + chosen.filter + ", which no operator's name contains.");
}

Selection selection() {
  Selection chosen;
  if (const char* text = std::getenv("DIMPLE_TEST_SAMPLE"))
    chosen.sample = static_cast<size_t>(std::max(1, std::atoi(text)));
  if (const char* text = std::getenv("DIMPLE_TEST_SHIFT"))
    chosen.shift = static_cast<size_t>(std::max(0, std::atoi(text)));
  if (const char* text = std::getenv("DIMPLE_TEST_FILTER")) chosen.filter = text;
  checkFilter(chosen);
  return chosen;
}

std::vector<std::string> CaseGroup::lines() const {
  std::vector<std::string> all = written;
  if (generated)
    for (std::string& line : generateCases(*schema, type)) all.push_back(std::move(line));
  std::vector<std::string> taken;
  for (size_t i = first % std::max<size_t>(1, std::min(step, all.size())); i < all.size(); i += step)
    taken.push_back(std::move(all[i]));
  return taken;
}

std::vector<CaseGroup> caseGroups(const Selection& chosen, std::vector<std::string> written) {
  // Of an operator's types at most every so many-th is in a sample; the rest of the sample is made of cases.
  constexpr size_t kMaxTypeStep = 8;
  std::map<std::pair<const OpSchema*, DataType>, std::vector<std::string>> writtenOf;
  for (std::string& line : written) {
    const OpSchema* schema = findSchema(std::string_view(line).substr(0, line.find(' ')));
    if (!schema || !chosen.wants(*schema)) continue;
    const auto parsed = parseCase(line);
    const DataType type = parsed ? mainType(parsed->desc.desc()) : DML_TENSOR_DATA_TYPE_UNKNOWN;
    writtenOf[{schema, type}].push_back(std::move(line));
  }
  std::vector<CaseGroup> groups;
  size_t operators = 0;
  for (const OpSchema* schema : allSchemas()) {
    if (!chosen.wants(*schema)) continue;
    const auto types = generatedTypes(*schema);
    const size_t typeStep = std::min({chosen.sample, kMaxTypeStep, std::max<size_t>(1, types.size())});
    const size_t step = (chosen.sample + typeStep - 1) / typeStep;
    const size_t firstType = (operators + chosen.shift) % typeStep;
    const size_t firstLine = operators++ * 7 + chosen.shift / typeStep;
    for (size_t i = 0; i < types.size(); ++i) {
      auto lines = writtenOf.extract({schema, types[i]});
      if (i % typeStep != firstType) continue;
      groups.push_back({schema, types[i], true, {}, firstLine + i, step});
      if (lines) groups.back().written = std::move(lines.mapped());
    }
  }
  // What no generator makes: types that are refused.
  for (auto& [key, lines] : writtenOf)
    groups.push_back({key.first, key.second, false, std::move(lines), chosen.shift, chosen.sample});
  return groups;
}

}  // namespace dimple::testing
