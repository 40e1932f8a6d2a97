// Runs scenarios in which a call of the driver fails, and judges what the program saw. It is a program of its own,
// which may crash or hang; vulkan_fault_tests runs it, and d3d12_fault_tests fault_scenarios_d3d12.
//
//   fault_scenarios [--validation] SCENARIO                       the calls that the scenario makes: "FUNCTION COUNT"
//   fault_scenarios [--validation] SCENARIO FUNCTION CALL RESULT  one failure
//   fault_scenarios [--validation] -                              reads such lines from standard input
//
// Each failure answers a line: "ok", "unreached" or "bad SENTENCE".
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/faults/driver.h"
#include "tests/faults/scenarios.h"

namespace dimple::testing {
namespace {

struct Outcome {
  HRESULT result = S_OK;
  std::optional<HRESULT> removedReason;
  HRESULT again = S_OK;  // of a device that is not lost
  std::string text;      // the refusal
  bool ownCall = false;  // what failed was the program's own call of the driver
  std::string messages;  // of the validation layers
  std::string report;    // of the layer, when everything is released
  std::string before;    // the same of the runs before
};

const Scenario* findScenario(const std::string& name) {
  for (const Scenario& scenario : scenarios())
    if (scenario.name == name) return &scenario;
  return nullptr;
}

bool isLasting(const Fault& fault) { return fault.result.ends_with('+'); }

// The loader comments what fails, and so does Dimple where only the pipeline cache suffers.
bool isUnexpected(const std::string& message, const Fault& fault) {
  if (message.find("pipeline cache") != message.npos)
    return !isLoss(fault) && !isLasting(fault) && fault.function.find("PipelineCache") == std::string::npos;
  return message.find("VUID") != message.npos || message.find("SYNC-") != message.npos;
}

// The lines of a report that begin with a word, without it.
std::vector<std::string> linesOf(const std::string& report, const std::string& word) {
  std::vector<std::string> found;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(word, 0) == 0) found.push_back(line.substr(std::min(line.size(), word.size() + 1)));
  return found;
}

// An object of which a report lists more than one before; empty: there is none.
std::string leftOf(const std::string& before, const std::string& report) {
  const auto countIn = [](const std::string& text, const std::string& object) {
    for (const std::string& line : linesOf(text, "live " + object)) return std::atoi(line.c_str());
    return 0;
  };
  for (const std::string& left : linesOf(report, "live")) {
    const std::string object = left.substr(0, left.find(' '));
    if (left != stayingObject() && countIn(report, object) > countIn(before, object)) return left;
  }
  return "";
}

Outcome play(const Scenario& scenario, const Fault& fault, bool validation) {
  Outcome outcome;
  outcome.before = driverReport();
  const auto cache = std::filesystem::temp_directory_path() / ("dimple-faults-" + std::to_string(getpid()));
  {
    Session session({validation, cache.string(), driverBackend()}, [&] {
      armDriver(fault.function.empty() ? nullptr : fault.function.c_str(), fault.call, fault.result.c_str());
    });
    outcome.result = scenario.run(session);
    if (FAILED(outcome.result)) outcome.text = session.text().empty() ? dimpleGetLastMessage() : session.text();
    outcome.removedReason = session.removedReason();
    outcome.ownCall = session.ownCall();
    if (FAILED(outcome.result) && !isLoss(fault) && !isLasting(fault)) outcome.again = session.useAgain();
    session.close();
    for (const std::string& message : session.messages())
      if (isUnexpected(message, fault)) outcome.messages += message + "\n";
  }
  outcome.report = driverReport();
  // A driver's threads may hold what they worked with for a moment.
  for (int i = 0; i < 100 && !isLasting(fault) && !leftOf(outcome.before, outcome.report).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    outcome.report = driverReport();
  }
  armDriver(nullptr, 0, nullptr);
  std::filesystem::remove(cache);
  return outcome;
}

std::string hex(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof text, "%08X", static_cast<unsigned>(result));
  return text;
}

// What is wrong about an outcome; empty: nothing.
std::string judge(const Fault& fault, const Outcome& outcome) {
  for (const std::string& sentence : linesOf(outcome.report, "misuse")) return sentence;
  // Where even waiting fails from now on, what may be in use is left alone.
  if (const std::string left = leftOf(outcome.before, outcome.report); !isLasting(fault) && !left.empty())
    return "Left: " + left + ".";
  if (!outcome.messages.empty()) return outcome.messages;
  if (outcome.result == kWrongNumbers) return "The numbers are wrong, or a list was executed that could not be closed.";
  if (FAILED(outcome.again)) return "The device does nothing more: " + hex(outcome.again) + ".";
  const bool lost = isLoss(fault);
  if (SUCCEEDED(outcome.result)) return mayRecover(fault) ? "" : "The failure is hidden.";
  const HRESULT expected = lost ? DXGI_ERROR_DEVICE_REMOVED : expectedOf(fault);
  const std::string answer = hex(outcome.result) + " (" + outcome.text + ")";
  if (outcome.result != expected) return answer + ", expected " + hex(expected) + ".";
  if (outcome.removedReason && FAILED(*outcome.removedReason) != lost)
    return answer + (lost ? ", but the device is not removed." : ", and the device is removed.");
  if (outcome.ownCall) return "";
  if (outcome.text.empty() || outcome.text.back() != '.') return answer + " is no sentence.";
  // A loss may be noticed by the next call.
  std::vector<std::string> parts = namesOf(fault);
  if (lost || isLasting(fault)) parts.push_back(fault.result.substr(0, fault.result.find('+')));
  for (const std::string& part : parts)
    if (outcome.text.find(part) != outcome.text.npos) return "";
  return answer + " does not name what failed.";
}

std::string tryFault(const Fault& fault, bool validation) {
  const Scenario* scenario = findScenario(fault.scenario);
  if (!scenario) return "bad There is no such scenario.";
  if (!armDriver(fault.function.c_str(), fault.call, fault.result.c_str())) return "bad There is no such fault.";
  const Outcome outcome = play(*scenario, fault, validation);
  if (outcome.report.find("injected\n") == std::string::npos) return "unreached";
  std::string wrong = judge(fault, outcome);
  if (wrong.empty() && FAILED(play(*findScenario(nextScenario()), {}, validation).result))
    wrong = "The next device does not work.";
  for (char& c : wrong)
    if (c == '\n') c = ' ';
  return wrong.empty() ? "ok" : "bad " + wrong;
}

// The calls of a scenario in which nothing fails.
int listCalls(const std::string& name, bool validation) {
  const Scenario* scenario = findScenario(name);
  if (!scenario) {
    for (const Scenario& known : scenarios()) std::printf("%s\n", std::string(known.name).c_str());
    return 2;
  }
  static_cast<void>(play(scenarios()[0], {}, validation));  // makes the instance that stays
  const Outcome outcome = play(*scenario, {}, validation);
  for (const std::string& line : linesOf(outcome.report, "reached")) std::printf("%s\n", line.c_str());
  for (const std::string& left : linesOf(outcome.report, "live"))
    if (left != stayingObject()) std::printf("left %s\n", left.c_str());
  if (!outcome.messages.empty()) std::printf("said %s\n", outcome.messages.c_str());
  if (FAILED(outcome.result)) std::printf("failed %s %s\n", hex(outcome.result).c_str(), outcome.text.c_str());
  return FAILED(outcome.result);
}

int run(int count, char** arguments) {
  if (!openDriver()) {
    std::fprintf(stderr, "The driver whose calls fail cannot be opened.\n");
    return 2;
  }
  std::vector<std::string> words(arguments + 1, arguments + count);
  const bool validation = !words.empty() && words[0] == "--validation";
  if (validation) words.erase(words.begin());
  if (words.size() == 1 && words[0] != "-") return listCalls(words[0], validation);
  std::stringstream one;
  for (const std::string& word : words) one << word << ' ';
  std::istream& lines = words.size() == 1 ? std::cin : one;
  // The instance that stays is made by the first device.
  if (words.size() == 1 && FAILED(play(scenarios()[0], {}, validation).result)) return 2;
  bool good = true;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Fault fault;
    fields >> fault.scenario >> fault.function >> fault.call >> fault.result;
    const std::string verdict = tryFault(fault, validation);
    good &= verdict == "ok";
    std::printf("%s\n", verdict.c_str());
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace dimple::testing

int main(int count, char** arguments) { return dimple::testing::run(count, arguments); }
