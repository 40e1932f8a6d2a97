// Steps through the API, each of whose allocations is made to fail in turn.
#pragma once

#include <dimple.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/guard.h"
#include "tests/boundary/injector.h"

namespace dimple::testing {

// What a callback hears. It keeps its texts without allocating, since it may be called where no allocation succeeds.
struct Heard {
  size_t errors = 0;
  size_t removals = 0;
  HRESULT code = S_OK;
  char text[256] = {};

  static void STDMETHODCALLTYPE hear(void* context, DimpleMessageSeverity severity, HRESULT code, const char* text) {
    auto& heard = *static_cast<Heard*>(context);
    if (severity == DIMPLE_MESSAGE_WARNING) return;
    ++(severity == DIMPLE_MESSAGE_REMOVED ? heard.removals : heard.errors);
    heard.code = code;
    std::snprintf(heard.text, sizeof heard.text, "%s", text);
  }
};

// What a step answers.
enum class Answers : uint8_t {
  Result,   // an HRESULT, and DXGI_ERROR_DEVICE_REMOVED once the device is removed
  Nothing,  // nothing: what fails removes the device, and a removed one makes it do nothing. run() says removedReason()
  Always,   // an HRESULT that no removal changes
  Success,  // success, whatever fails
};

// A method of an interface or an exported function, called where what it needs is there. A Scene has `heard`,
// `removedReason()`, S_OK without a device, and `remove()`, which removes the device as hung.
template <class Scene>
struct Step {
  std::string_view name;    // "IDMLDevice::CreateOperator", then what is special about it
  void (*prepare)(Scene&);  // makes what the step needs
  HRESULT (*run)(Scene&);   // calls it, without an allocation of its own
  HRESULT expected = S_OK;  // if no allocation fails
  Answers answers = Answers::Result;
};

// For what a test makes ready: ends the test case if it fails.
inline void need(HRESULT result) {
  if (FAILED(result)) FAIL("What a step needs could not be made: ", dimple::api::lastMessage());
}

struct Outcome {
  size_t count = 0;  // allocations
  bool reached = false;
  HRESULT result = S_OK;
  HRESULT reason = S_OK;
  HRESULT again = S_OK;
  Heard heard;
  char message[256] = {};
  size_t left = 0;  // allocations that nothing freed
};

// Runs the step in a scene of its own with one allocation failing, or none: `number` 0.
template <class Scene>
Outcome failOne(const Step<Scene>& step, size_t number) {
  const size_t before = Tracking::live();
  Outcome outcome;
  {
    const Tracking tracking;
    Scene scene;
    step.prepare(scene);
    scene.heard = {};
    api::setLastMessage("");
    {
      const FailingAllocation allocation(number);
      outcome.result = step.run(scene);
      outcome.reached = FailingAllocation::reached();
      outcome.count = FailingAllocation::count();
    }
    outcome.heard = scene.heard;
    std::snprintf(outcome.message, sizeof outcome.message, "%s", api::lastMessage());
    outcome.reason = scene.removedReason();
    outcome.again = outcome.reached && (step.answers == Answers::Result || step.answers == Answers::Always)
                        ? step.run(scene)
                        : step.expected;
  }
  outcome.left = Tracking::live() - before;
  return outcome;
}

template <class Scene>
void checkFailed(const Step<Scene>& step, const Outcome& outcome) {
  CHECK(outcome.left == 0);
  if (!outcome.reached || step.answers == Answers::Success) {
    CHECK(outcome.result == step.expected);
    return;
  }
  CHECK(outcome.result == E_OUTOFMEMORY);
  const bool removes = step.answers == Answers::Nothing;
  CHECK(outcome.reason == (removes ? E_OUTOFMEMORY : S_OK));
  CHECK(outcome.heard.removals == (removes ? 1 : 0));
  CHECK(std::string_view(outcome.message).ends_with('.'));
  if (outcome.heard.code != S_OK) CHECK(std::string_view(outcome.heard.text) == outcome.message);
  CHECK(outcome.again == step.expected);
}

// DIMPLE_TEST_ALLOCATIONS=all: every allocation of every step; anything: how many each step makes is printed.
inline bool everyAllocation() {
  const char* chosen = std::getenv("DIMPLE_TEST_ALLOCATIONS");
  return chosen && std::string_view(chosen) == "all";
}

// Fails each allocation of the step in turn, or `most` of them, the first and the last included. How many there are.
template <class Scene>
size_t failEach(const Step<Scene>& step, size_t most = SIZE_MAX) {
  failOne(step, 0);  // makes what stays for the life of the process
  const Outcome whole = failOne(step, 0);
  CAPTURE(std::string(step.name));
  CHECK(whole.result == step.expected);
  CHECK(whole.left == 0);
  if (std::getenv("DIMPLE_TEST_ALLOCATIONS")) std::printf("%5zu %s\n", whole.count, std::string(step.name).c_str());
  const size_t runs = everyAllocation() ? whole.count : std::min(whole.count, most);
  for (size_t i = 0; i < runs; ++i) {
    const size_t number = runs == whole.count ? i + 1 : 1 + i * (whole.count - 1) / (runs - 1);
    const Outcome outcome = failOne(step, number);
    INFO("allocation ", number, ": ", std::string(outcome.message));
    checkFailed(step, outcome);
  }
  return whole.count;
}

// Runs the step on a device that was removed as hung.
template <class Scene>
void runRemoved(const Step<Scene>& step) {
  Scene scene;
  step.prepare(scene);
  scene.remove();
  scene.heard = {};
  api::setLastMessage("");
  const HRESULT result = step.run(scene);
  CAPTURE(std::string(step.name));
  CHECK(scene.heard.removals == 0);
  const std::string_view message = api::lastMessage();
  switch (step.answers) {
    case Answers::Result:
      CHECK(result == DXGI_ERROR_DEVICE_REMOVED);
      CHECK(message.starts_with("The device was removed: "));
      CHECK(message.ends_with('.'));
      CHECK(std::string_view(scene.heard.text) == message);
      break;
    case Answers::Nothing:
      CHECK(result == DXGI_ERROR_DEVICE_HUNG);
      CHECK(scene.heard.errors == 0);
      break;
    case Answers::Always:
    case Answers::Success:
      CHECK(result == step.expected);
  }
}

}  // namespace dimple::testing
