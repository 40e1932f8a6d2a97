// Lists the failures of Vulkan or Direct3D 12 that a scenario can meet, and has another program try them.
#pragma once

#include <string>
#include <vector>

namespace dimple::testing {

// "SCENARIO FUNCTION CALL RESULT"
using FaultLine = std::string;

// What a call of a function may answer instead of doing something.
std::vector<std::string> resultsOf(const std::string& function);

// Every call of every scenario with every result, as fault_scenarios lists the calls.
std::vector<FaultLine> allFaults();

// Every call of a scenario with every result. `reached`: lines "FUNCTION COUNT".
std::vector<FaultLine> faultsOf(const std::string& scenario, const std::string& reached);

// What this run takes of all: every one with DIMPLE_TEST_FAULTS=all, else as many as there may be, drawn by the seed
// DIMPLE_TEST_FAULTS (1).
std::vector<FaultLine> chooseFaults(std::vector<FaultLine> all, size_t most);
bool everyFault();

struct Verdict {
  FaultLine fault;
  std::string text;  // "ok", or what is wrong
};

// Has fault_scenarios try them, in processes that are begun anew after a crash and ended after a minute without an
// answer.
std::vector<Verdict> tryFaults(const std::vector<FaultLine>& faults, bool validation);

// Checks that each of them is answered rightly.
void checkFaults(const std::vector<FaultLine>& faults, bool validation);

}  // namespace dimple::testing
