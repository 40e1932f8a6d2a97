// A driver whose calls fail: nothing crashes or hangs, the caller learns what failed, everything is released, and the
// next device works.
#include <doctest.h>

#include <cstdio>

#include "tests/faults/runs.h"
#include "tests/tool/tool_fixture.h"

using namespace dimple::testing;

TEST_CASE("faults: a failing call of Vulkan is answered, and nothing is left") {
  checkFaults(chooseFaults(allFaults(), 200), false);
}

TEST_CASE("faults: nothing invalid is called after a failure") {
  if (std::getenv("DIMPLE_TEST_NO_VALIDATION")) {
    std::printf("faults: without the validation layers (DIMPLE_TEST_NO_VALIDATION)\n");
    return;
  }
  checkFaults(chooseFaults(allFaults(), 60), true);
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
