#include "tests/ops/test_record.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace dimple::testing {

void TestRecord::add(const CaseOutcome& outcome) {
  const OpSchema* schema = findSchema(outcome.type);
  const std::string name = schema ? std::string(schema->name) : "unreadable line";
  CaseCounts& counts = counts_[{name, std::string(dataTypeName(outcome.dataType))}];
  ++(outcome.failure.empty() ? counts.passed : counts.failed);
  if (outcome.vacuous) ++counts.vacuous;
  counts.maxUlp = std::max(counts.maxUlp, outcome.maxUlp);
}

CaseCounts TestRecord::total() const {
  CaseCounts sum;
  for (const auto& [key, counts] : counts_) {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
  }
  return sum;
}

bool TestRecord::write(const std::string& path, const Gpu& gpu) const {
  nlohmann::ordered_json root;
  root["backend"] = gpu.backend();
  root["device"] = gpu.adapter();
  root["results"] = nlohmann::ordered_json::array();
  for (const auto& [key, counts] : counts_)
    root["results"].push_back({{"operator", key.first},
                               {"type", key.second},
                               {"passed", counts.passed},
                               {"failed", counts.failed},
                               {"maxUlp", counts.maxUlp}});
  std::ofstream file(path);
  file << root.dump(1) << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace dimple::testing
