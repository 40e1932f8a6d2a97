// A driver whose calls fail: nothing crashes or hangs, the caller learns what failed, everything is released, and the
// next device works.
#include <doctest.h>

#include <cstdio>

#include "tests/faults/runs.h"
#include "tests/tool/tool_fixture.h"

using namespace dimple::testing;

namespace {

std::vector<FaultLine> allFaults() {
  std::vector<FaultLine> all;
  const ToolFixture fixture;
  for (const std::string scenario :
       {"open", "adapters", "weights", "graph", "transfers", "profile", "lists", "caller"}) {
    const ToolOutcome listed = fixture.runProgram(DIMPLE_FAULT_SCENARIOS, scenario);
    REQUIRE_MESSAGE(listed.code == 0, scenario, ": ", listed.out, listed.err);
    const auto faults = faultsOf(scenario, listed.out);
    CHECK_MESSAGE(!faults.empty(), scenario, " calls nothing.");
    all.insert(all.end(), faults.begin(), faults.end());
  }
  return all;
}

void check(const std::vector<FaultLine>& faults, bool validation) {
  size_t failed = 0;
  for (const Verdict& verdict : tryFaults(faults, validation)) {
    CHECK_MESSAGE(verdict.text == "ok", verdict.text, "\nTo repeat it alone: " DIMPLE_FAULT_SCENARIOS,
                  (validation ? " --validation " : " "), verdict.fault);
    failed += verdict.text != "ok";
  }
  std::printf("faults: %zu failing calls%s, %zu not answered rightly\n", faults.size(), validation ? ", validated" : "",
              failed);
}

}  // namespace

TEST_CASE("faults: a failing call of Vulkan is answered, and nothing is left") {
  check(chooseFaults(allFaults(), 200), false);
}

TEST_CASE("faults: nothing invalid is called after a failure") {
  if (std::getenv("DIMPLE_TEST_NO_VALIDATION")) {
    std::printf("faults: without the validation layers (DIMPLE_TEST_NO_VALIDATION)\n");
    return;
  }
  check(chooseFaults(allFaults(), 60), true);
}

// In processes of their own: the instance that stays is made once.
TEST_CASE("faults: an instance that cannot be made") {
  const ToolFixture fixture;
  for (const std::string scenario : {"open", "adapters"})
    for (const std::string call : {"1", "2"})
      for (const std::string& result : resultsOf("vkCreateInstance")) {
        const std::string fault = scenario + " vkCreateInstance " + call + " " + result;
        const ToolOutcome outcome = fixture.runProgram(DIMPLE_FAULT_SCENARIOS, fault);
        CHECK_MESSAGE(outcome.out == "ok\n", fault, ": ", outcome.out, outcome.err);
      }
}
