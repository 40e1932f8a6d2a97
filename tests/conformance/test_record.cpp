#include "tests/conformance/test_record.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace dimple::testing {

void TestRecord::add(const CaseOutcome& outcome) {
  const OpSchema* schema = findSchema(outcome.type);
  const std::string name = schema ? std::string(schema->name) : "unreadable line";
  CaseCounts& counts = counts_[{name, std::string(dataTypeName(outcome.dataType))}];
  ++(outcome.failure.empty() ? counts.passed : counts.failed);
  if (outcome.vacuous) ++counts.vacuous;
  counts.maxUlp = std::max(counts.maxUlp, outcome.maxUlp);  // no value is the least
  counts.maxShare = std::max(counts.maxShare, outcome.maxShare);
}

CaseCounts TestRecord::total() const {
  CaseCounts sum;
  for (const auto& [key, counts] : counts_) {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
  }
  return sum;
}

bool TestRecord::write(const std::string& path, std::string_view backend, const std::string& device) const {
  using Json = nlohmann::ordered_json;
  Json record{{"backend", backend}, {"device", device}, {"results", Json::array()}};
  for (const auto& [key, counts] : counts_) {
    Json result{{"operator", key.first},
                {"type", key.second},
                {"passed", counts.passed},
                {"failed", counts.failed},
                {"maxShare", counts.maxShare}};
    if (counts.maxUlp) result["maxUlp"] = *counts.maxUlp;
    record["results"].push_back(std::move(result));
  }
  // What cannot be read, such as half a file, is no record.
  std::ifstream before(path);
  Json records = Json::parse(before, nullptr, false);
  before.close();
  if (records.is_object()) records = Json::array({records});
  if (!records.is_array()) records = Json::array();
  const auto isSame = [&](const Json& other) {
    return other.is_object() && other.value("backend", "") == backend && other.value("device", "") == device;
  };
  const auto same = std::find_if(records.begin(), records.end(), isSame);
  if (same == records.end())
    records.push_back(std::move(record));
  else
    *same = std::move(record);
  std::ofstream file(path);
  file << records.dump(1) << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace dimple::testing
