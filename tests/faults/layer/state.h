// Which call fails, and what was called and created.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/faults/layer/functions.h"

namespace dimple::faults {

#define DIMPLE_IGNORE(...)
#define DIMPLE_ID(name, ...) k##name,
enum Function : uint32_t {
  kCreateInstance,
  kCreateDevice,
  DIMPLE_FAULT_FUNCTIONS(DIMPLE_ID, DIMPLE_ID, DIMPLE_IGNORE, DIMPLE_ID, DIMPLE_ID, DIMPLE_IGNORE) kFunctionCount
};
#undef DIMPLE_ID
#define DIMPLE_ID(name, object) kObject##object,
enum Object : uint32_t {
  kObjectInstance,
  kObjectDevice,
  DIMPLE_FAULT_FUNCTIONS(DIMPLE_IGNORE, DIMPLE_ID, DIMPLE_IGNORE, DIMPLE_IGNORE, DIMPLE_ID, DIMPLE_IGNORE) kObjectCount
};
#undef DIMPLE_ID

// One a process. Thread-safe.
class State {
 public:
  static State& get();
  ~State();

  bool arm(const char* function, uint32_t call, const char* result);
  // The result that this call of a function has to answer instead of being made; VK_SUCCESS: none.
  VkResult enter(Function function);
  void created(Object object, uint64_t handle);
  // Whether there is such an object, which is none from now on.
  bool destroyed(Object object, uint64_t handle);
  void misuse(std::string sentence);
  std::string report();

 private:
  State();

  std::mutex mutex_;
  Function armed_ = kFunctionCount;
  uint32_t armedCall_ = 0;
  VkResult armedResult_ = VK_SUCCESS;
  bool lasting_ = false;  // every later call answers it, too
  bool injected_ = false;
  std::array<uint32_t, kFunctionCount> calls_{};
  std::array<std::unordered_set<uint64_t>, kObjectCount> live_;
  std::vector<std::string> misuses_;
};

}  // namespace dimple::faults
