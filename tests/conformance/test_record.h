// What ran and passed, for `dimple ops`: written to test-results.json in the build folder, which keeps one record of
// each back end and device.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tests/conformance/case_runner.h"

namespace dimple::testing {

struct CaseCounts {
  uint64_t passed = 0;
  uint64_t failed = 0;
  uint64_t vacuous = 0;
  std::optional<double> maxUlp;  // as in CaseOutcome
  double maxShare = 0;
};

class TestRecord {
 public:
  void add(const CaseOutcome& outcome);

  const std::map<std::pair<std::string, std::string>, CaseCounts>& counts() const { return counts_; }
  CaseCounts total() const;

  // Replaces the record of this back end and device, and keeps the file's others. False if the file cannot be written.
  bool write(const std::string& path, std::string_view backend, const std::string& device) const;

 private:
  // By operator and data type.
  std::map<std::pair<std::string, std::string>, CaseCounts> counts_;
};

}  // namespace dimple::testing
