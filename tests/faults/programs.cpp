#include "tests/faults/programs.h"

#include <doctest.h>

#include <cstdio>
#include <string_view>

namespace dimple::testing {

ToolOutcome FaultedProgram::run(const std::string& fault, std::string& report) const {
  const std::string environment =
      "VK_ADD_LAYER_PATH='" DIMPLE_FAULT_MANIFESTS "' VK_INSTANCE_LAYERS=VK_LAYER_DIMPLE_faults " +
      (fault.empty() ? "" : "DIMPLE_FAULTS='" + fault + "' ") + "DIMPLE_FAULTS_REPORT=report.txt";
  std::filesystem::remove(fixture_.folder() / "report.txt");
  const ToolOutcome outcome = fixture_.runProgram("env", environment + " timeout 120 " + program_ + " " + arguments_);
  report = readLines(fixture_.folder() / "report.txt");
  return outcome;
}

std::string FaultedProgram::judge(const std::string& fault) const {
  std::string report;
  const ToolOutcome outcome = run(fault, report);
  if (outcome.code == 124) return "It hangs.";
  if (outcome.code < 0 || outcome.code > 127 || contains(outcome.err, "Sanitizer") ||
      contains(outcome.err, "runtime error"))
    return "It crashes: " + outcome.err;
  if (outcome.code == 0) return contains(outcome.out, answer_) ? "" : "It prints something else: " + outcome.out;
  const std::string said = outcome.err + outcome.out;
  if (!contains(said, "VK_ERROR_") && !contains(said, "vk")) return "It does not say what failed: " + said;
  if (contains(report, "misuse")) return report;
  if (fault.ends_with('+')) return "";
  const bool isLost = contains(fault, "VK_ERROR_DEVICE_LOST");
  for (const char* word : {"again: ", "anew: "})
    if (contains(said, word) && !contains(said, word + answer_) && !(isLost && word == std::string_view("again: ")))
      return "It does not go on: " + said;
  return leftBy(report);
}

std::string FaultedProgram::leftBy(const std::string& report) const {
  for (size_t at = report.find("live "); releases_ && at != report.npos; at = report.find("live ", at + 1))
    if (report.compare(at, 18, "live VkInstance 1\n") != 0) return "It leaves something: " + report;
  return "";
}

void FaultedProgram::checkRefusal(const std::string& text) const {
  std::string report;
  const ToolOutcome outcome = run("", report);
  CHECK(outcome.code == 1);
  CHECK_MESSAGE(contains(outcome.out, text), outcome.out, outcome.err);
  CHECK(contains(report, "reached vkCreateDevice"));
  CHECK(!contains(report, "misuse"));
  CHECK(leftBy(report) == "");
}

std::vector<FaultLine> FaultedProgram::faults() const {
  std::string report;
  const ToolOutcome outcome = run("", report);
  REQUIRE_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
  std::string reached;
  for (size_t at = report.find("reached "); at != report.npos; at = report.find("reached ", at + 1))
    reached += report.substr(at + 8, report.find('\n', at) - at - 7);
  auto all = faultsOf("", reached);
  for (FaultLine& line : all) line.erase(0, 1);
  return all;
}

void FaultedProgram::check(size_t most) const {
  const auto chosen = chooseFaults(faults(), most);
  CHECK(!chosen.empty());
  for (const FaultLine& fault : chosen) {
    const std::string wrong = judge(fault);
    CHECK_MESSAGE(wrong.empty(), program_, " ", arguments_, ", DIMPLE_FAULTS='", fault, "': ", wrong);
  }
  std::printf("faults: %s %s, %zu failing calls\n", program_.c_str(), arguments_.c_str(), chosen.size());
}

}  // namespace dimple::testing
