#include "tests/faults/layer/state.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/faults/layer/faults.h"

namespace dimple::faults {
namespace {

#define DIMPLE_NAME(name, ...) "vk" #name,
constexpr const char* kFunctionNames[] = {
    "vkCreateInstance", "vkCreateDevice",
    DIMPLE_FAULT_FUNCTIONS(DIMPLE_NAME, DIMPLE_NAME, DIMPLE_IGNORE, DIMPLE_NAME, DIMPLE_NAME, DIMPLE_IGNORE)};
#undef DIMPLE_NAME
#define DIMPLE_NAME(name, object) "Vk" #object,
constexpr const char* kObjectNames[] = {
    "VkInstance", "VkDevice",
    DIMPLE_FAULT_FUNCTIONS(DIMPLE_IGNORE, DIMPLE_NAME, DIMPLE_IGNORE, DIMPLE_IGNORE, DIMPLE_NAME, DIMPLE_IGNORE)};
#undef DIMPLE_NAME

constexpr std::pair<std::string_view, VkResult> kResults[] = {
    {"VK_ERROR_OUT_OF_HOST_MEMORY", VK_ERROR_OUT_OF_HOST_MEMORY},
    {"VK_ERROR_OUT_OF_DEVICE_MEMORY", VK_ERROR_OUT_OF_DEVICE_MEMORY},
    {"VK_ERROR_INITIALIZATION_FAILED", VK_ERROR_INITIALIZATION_FAILED},
    {"VK_ERROR_DEVICE_LOST", VK_ERROR_DEVICE_LOST}};

}  // namespace

State& State::get() {
  static State state;
  return state;
}

State::State() {
  const char* text = std::getenv("DIMPLE_FAULTS");
  if (!text) return;
  char function[64], result[64];
  uint32_t call = 0;
  if (std::sscanf(text, "%63s %u %63s", function, &call, result) != 3 || !arm(function, call, result))
    std::fprintf(stderr, "DIMPLE_FAULTS is '%s', expected a function, the number of a call and a VkResult.\n", text);
}

State::~State() {
  const char* path = std::getenv("DIMPLE_FAULTS_REPORT");
  if (!path) return;
  if (std::FILE* file = std::fopen(path, "w")) {
    std::fputs(report().c_str(), file);
    std::fclose(file);
  }
}

bool State::arm(const char* function, uint32_t call, const char* result) {
  Function id = kFunctionCount;
  VkResult code = VK_SUCCESS;
  for (uint32_t i = 0; function && i < kFunctionCount; ++i)
    if (std::string_view(function) == kFunctionNames[i]) id = static_cast<Function>(i);
  std::string_view wanted = function ? result : "";
  const bool lasting = wanted.ends_with('+');
  if (lasting) wanted.remove_suffix(1);
  for (const auto& [name, value] : kResults)
    if (wanted == name) code = value;
  if (function && (id == kFunctionCount || code == VK_SUCCESS || call == 0)) return false;
  const std::lock_guard lock(mutex_);
  armed_ = id;
  armedCall_ = call;
  armedResult_ = code;
  lasting_ = lasting;
  injected_ = false;
  calls_ = {};
  misuses_.clear();
  return true;
}

VkResult State::enter(Function function) {
  const std::lock_guard lock(mutex_);
  const bool hit = ++calls_[function] == armedCall_ && function == armed_;
  if (!hit && !(lasting_ && injected_)) return VK_SUCCESS;
  injected_ = true;
  return armedResult_;
}

void State::created(Object object, uint64_t handle) {
  const std::lock_guard lock(mutex_);
  live_[object].insert(handle);
}

bool State::destroyed(Object object, uint64_t handle) {
  const std::lock_guard lock(mutex_);
  if (live_[object].erase(handle)) return true;
  misuses_.push_back(std::string("A ") + kObjectNames[object] + " was destroyed that there is not.");
  return false;
}

void State::misuse(std::string sentence) {
  const std::lock_guard lock(mutex_);
  misuses_.push_back(std::move(sentence));
}

std::string State::report() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (uint32_t i = 0; i < kFunctionCount; ++i)
    if (calls_[i]) text += std::string("reached ") + kFunctionNames[i] + " " + std::to_string(calls_[i]) + "\n";
  for (uint32_t i = 0; i < kObjectCount; ++i)
    if (!live_[i].empty())
      text += std::string("live ") + kObjectNames[i] + " " + std::to_string(live_[i].size()) + "\n";
  if (injected_) text += "injected\n";
  for (const std::string& sentence : misuses_) text += "misuse " + sentence + "\n";
  return text;
}

}  // namespace dimple::faults

extern "C" {

#define DIMPLE_EXPORT __attribute__((visibility("default")))

DIMPLE_EXPORT bool dimpleFaultsArm(const char* function, uint32_t call, const char* result) {
  return dimple::faults::State::get().arm(function, call, result);
}

DIMPLE_EXPORT const char* dimpleFaultsReport() {
  static std::string text;
  text = dimple::faults::State::get().report();
  return text.c_str();
}
}
