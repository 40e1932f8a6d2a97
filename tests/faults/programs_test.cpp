// Programs over Dimple on a driver whose calls fail: they end by themselves, and say what failed.
#include <doctest.h>

#include <cstdio>

#include "tests/faults/runs.h"
#include "tests/tool/tool_fixture.h"

using namespace dimple::testing;

namespace {

const char* const kProgram = R"({
  "resources": {
    "a": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2]},
    "b": {"initialValuesDataType": "FLOAT32", "initialValues": [3, 4]},
    "sum": {"initialValuesDataType": "FLOAT32", "initialValues": [0, 0]} },
  "dispatchables": {"add": { "type": "ELEMENT_WISE_ADD", "desc": {
    "ATensor": { "DataType": "FLOAT32", "Sizes": [2] },
    "BTensor": { "DataType": "FLOAT32", "Sizes": [2] },
    "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } } } },
  "commands": [
    {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "a", "BTensor": "b", "OutputTensor": "sum"}},
    {"type": "print", "resource": "sum"} ] })";

// A program with the layer, and what the layer saw.
class Program {
 public:
  // `answer`: what it prints where it succeeds.
  Program(std::string program, std::string arguments, std::string answer, bool releases)
      : program_(std::move(program)),
        arguments_(std::move(arguments)),
        answer_(std::move(answer)),
        releases_(releases) {
    fixture_.write("model.json", kProgram);
  }

  ToolOutcome run(const std::string& fault, std::string& report) const {
    const std::string environment =
        "VK_ADD_LAYER_PATH='" DIMPLE_FAULT_MANIFESTS "' VK_INSTANCE_LAYERS=VK_LAYER_DIMPLE_faults " +
        (fault.empty() ? "" : "DIMPLE_FAULTS='" + fault + "' ") + "DIMPLE_FAULTS_REPORT=report.txt";
    std::filesystem::remove(fixture_.folder() / "report.txt");
    const ToolOutcome outcome = fixture_.runProgram("env", environment + " timeout 120 " + program_ + " " + arguments_);
    report = readLines(fixture_.folder() / "report.txt");
    return outcome;
  }

  // What is wrong about it; empty: nothing.
  std::string judge(const std::string& fault) const {
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
    if (releases_ && !fault.ends_with('+'))
      for (size_t at = report.find("live "); at != report.npos; at = report.find("live ", at + 1))
        if (report.compare(at, 18, "live VkInstance 1\n") != 0) return "It leaves something: " + report;
    return "";
  }

  std::vector<FaultLine> faults() const {
    std::string report;
    const ToolOutcome outcome = run("", report);
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    std::string reached;
    for (size_t at = report.find("reached "); at != report.npos; at = report.find("reached ", at + 1))
      reached += report.substr(at + 8, report.find('\n', at) - at - 7);
    auto all = faultsOf("", reached);
    for (FaultLine& line : all) line.erase(0, 1);
    return all;
  }

  void check(size_t most) const {
    const auto chosen = chooseFaults(faults(), most);
    CHECK(!chosen.empty());
    for (const FaultLine& fault : chosen) {
      const std::string wrong = judge(fault);
      CHECK_MESSAGE(wrong.empty(), program_, " ", arguments_, ", DIMPLE_FAULTS='", fault, "': ", wrong);
    }
    std::printf("faults: %s %s, %zu failing calls\n", program_.c_str(), arguments_.c_str(), chosen.size());
  }

 private:
  const ToolFixture fixture_;
  const std::string program_, arguments_, answer_;
  const bool releases_;  // everything, also when it fails
};

}  // namespace

TEST_CASE("faults: dimple run") { Program(DIMPLE_TOOL, "run model.json", "4, 6", true).check(12); }
TEST_CASE("faults: dimple run --graph") { Program(DIMPLE_TOOL, "run model.json --graph", "4, 6", true).check(12); }
TEST_CASE("faults: dimple devices") { Program(DIMPLE_TOOL, "devices", "vulkan", true).check(4); }
TEST_CASE("faults: the example of the README") { Program(DIMPLE_FAULT_HELLO, "", "11 22 33 44", false).check(12); }
