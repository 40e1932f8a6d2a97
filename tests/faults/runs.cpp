#include "tests/faults/runs.h"

#include <doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string_view>

#include "tests/tool/tool_fixture.h"

namespace dimple::testing {
namespace {

#ifdef DIMPLE_SANITIZED
constexpr int kSeconds = 600;  // for one process
#else
constexpr int kSeconds = 120;
#endif
constexpr size_t kFaultsOfProcess = 64;

constexpr std::array<std::string_view, 5> kOfInstances = {
    "vkCreateInstance", "vkEnumeratePhysicalDevices", "vkEnumerateDeviceExtensionProperties",
    "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", "vkCreateDebugUtilsMessengerEXT"};

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

}  // namespace

std::vector<std::string> resultsOf(const std::string& function) {
  // Functions of Direct3D's library, its methods that ask no device, and the others.
  if (function.starts_with("D3D12")) return {"E_OUTOFMEMORY", "E_FAIL"};
  for (const std::string_view method : {"CheckFeatureSupport", "GetPrivateData", "SetPrivateDataInterface"})
    if (function.ends_with(method)) return {"E_OUTOFMEMORY", "E_OUTOFMEMORY+"};
  if (function == "ID3D12Device::GetDeviceRemovedReason") return {"DXGI_ERROR_DEVICE_REMOVED"};
  if (function.starts_with("ID3D12")) return {"E_OUTOFMEMORY", "DXGI_ERROR_DEVICE_REMOVED", "E_OUTOFMEMORY+"};
  const bool ofInstance = std::find(kOfInstances.begin(), kOfInstances.end(), function) != kOfInstances.end();
  std::vector<std::string> results{"VK_ERROR_OUT_OF_HOST_MEMORY", "VK_ERROR_OUT_OF_DEVICE_MEMORY"};
  if (ofInstance)
    results.emplace_back("VK_ERROR_INITIALIZATION_FAILED");
  else
    results.insert(results.end(), {"VK_ERROR_DEVICE_LOST", "VK_ERROR_OUT_OF_HOST_MEMORY+"});
  return results;
}

std::vector<FaultLine> faultsOf(const std::string& scenario, const std::string& reached) {
  std::vector<FaultLine> all;
  std::istringstream words(reached);
  std::string function;
  for (int count = 0; words >> function >> count;)
    for (int call = 1; call <= count; ++call)
      for (const std::string& result : resultsOf(function))
        all.push_back(scenario + " " + function + " " + std::to_string(call) + " " + result);
  return all;
}

bool everyFault() {
  const char* chosen = std::getenv("DIMPLE_TEST_FAULTS");
  return chosen && std::string_view(chosen) == "all";
}

std::vector<FaultLine> chooseFaults(std::vector<FaultLine> all, size_t most) {
  if (everyFault() || all.size() <= most) return all;
  const char* chosen = std::getenv("DIMPLE_TEST_FAULTS");
  std::mt19937 random(chosen ? static_cast<uint32_t>(std::atoi(chosen)) : 1u);
  std::vector<FaultLine> sample;
  std::sample(all.begin(), all.end(), std::back_inserter(sample), most, random);
  return sample;
}

std::vector<Verdict> tryFaults(const std::vector<FaultLine>& faults, bool validation) {
  std::vector<Verdict> verdicts;
  while (verdicts.size() < faults.size()) {
    const size_t begin = verdicts.size();
    const size_t end = std::min(faults.size(), begin + kFaultsOfProcess);
    std::string text;
    for (size_t i = begin; i < end; ++i) text += faults[i] + "\n";
    const ToolFixture fixture;
    fixture.write("faults.txt", text);
    const ToolOutcome outcome =
        fixture.runProgram("timeout", std::to_string(kSeconds) + " " DIMPLE_FAULT_SCENARIOS +
                                          (validation ? " --validation" : "") + " - <faults.txt");
    const auto answers = linesOf(outcome.out);
    for (size_t i = 0; i < std::min(answers.size(), end - begin); ++i)
      verdicts.push_back({faults[begin + i], answers[i]});
    if (verdicts.size() == end) continue;
    // timeout passes on how the program ended: 128 and the signal, or 124.
    const std::string how = outcome.code == 124 ? "It hangs." : "It ends with status " + std::to_string(outcome.code);
    verdicts.push_back({faults[verdicts.size()], how + " " + outcome.err});
  }
  return verdicts;
}

std::vector<FaultLine> allFaults() {
  std::vector<FaultLine> all;
  const ToolFixture fixture;
  for (const std::string scenario : {DIMPLE_FAULT_SCENARIO_NAMES}) {
    const ToolOutcome listed = fixture.runProgram(DIMPLE_FAULT_SCENARIOS, scenario);
    REQUIRE_MESSAGE(listed.code == 0, scenario, ": ", listed.out, listed.err);
    const auto faults = faultsOf(scenario, listed.out);
    CHECK_MESSAGE(!faults.empty(), scenario, " calls nothing.");
    all.insert(all.end(), faults.begin(), faults.end());
  }
  return all;
}

void checkFaults(const std::vector<FaultLine>& faults, bool validation) {
  size_t failed = 0;
  for (const Verdict& verdict : tryFaults(faults, validation)) {
    CHECK_MESSAGE(verdict.text == "ok", verdict.text, "\nTo repeat it alone: " DIMPLE_FAULT_SCENARIOS,
                  std::string(validation ? " --validation " : " "), verdict.fault);
    failed += verdict.text != "ok";
  }
  std::printf("faults: %zu failing calls%s, %zu not answered rightly\n", faults.size(), validation ? ", validated" : "",
              failed);
}

}  // namespace dimple::testing
