#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "tests/driver.h"
#include "tests/faults/driver.h"
#include "tests/faults/layer/faults.h"

namespace dimple::testing {
namespace {

DimpleFaultsArm armLayer = nullptr;
DimpleFaultsReport reportOfLayer = nullptr;

}  // namespace

// The layer is enabled, and lavapipe chosen, before there is any Vulkan. The library is the one that the loader opens,
// too.
bool openDriver() {
  setenv("VK_ADD_LAYER_PATH", DIMPLE_FAULT_MANIFESTS, 1);
  setenv("VK_INSTANCE_LAYERS", "VK_LAYER_DIMPLE_faults", 1);
  chooseDriver();
  if (void* library = dlopen(DIMPLE_FAULT_LAYER, RTLD_NOW)) {
    armLayer = reinterpret_cast<DimpleFaultsArm>(dlsym(library, "dimpleFaultsArm"));
    reportOfLayer = reinterpret_cast<DimpleFaultsReport>(dlsym(library, "dimpleFaultsReport"));
  }
  return armLayer && reportOfLayer;
}

bool armDriver(const char* function, uint32_t call, const char* result) { return armLayer(function, call, result); }
std::string driverReport() { return reportOfLayer(); }

DimpleBackend driverBackend() { return DIMPLE_BACKEND_VULKAN; }
// Some drivers cannot be loaded any number of times.
std::string stayingObject() { return "VkInstance 1"; }
std::string nextScenario() { return "weights"; }
bool isLoss(const Fault& fault) { return fault.result == "VK_ERROR_DEVICE_LOST"; }

bool mayRecover(const Fault& fault) {
  static constexpr std::string_view kFunctions[] = {
      "vkCreateInstance",                                                       // the one that keeps drivers loaded
      "vkCreatePipelineCache",                                                  // without the file's contents
      "vkCreateComputePipelines", "vkCreateShaderModule",                       // compiled ahead, on other threads
      "vkGetPipelineCacheData",   "vkDeviceWaitIdle",     "vkAllocateMemory"};  // in memory of another type
  for (const auto name : kFunctions)
    if (fault.function == name) return true;
  return false;
}

HRESULT expectedOf(const Fault& fault) {
  return fault.result == "VK_ERROR_INITIALIZATION_FAILED" ? E_FAIL : E_OUTOFMEMORY;
}

// The loader asks for extensions when it creates a device.
std::vector<std::string> namesOf(const Fault& fault) { return {fault.function, "vkCreateDevice "}; }

}  // namespace dimple::testing
