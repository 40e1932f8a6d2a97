#include "backend_vulkan/functions.h"

#include "core/text.h"

namespace dimple::vulkan {

Status DeviceFunctions::load(PFN_vkGetDeviceProcAddr getDeviceProcAddr, VkDevice device) {
  const char* missing = nullptr;
  const auto find = [&](auto& function) {
    function.load(getDeviceProcAddr(device, function.name()));
    if (!function && !missing) missing = function.name();
  };
#define DIMPLE_LOAD(name) find(vk##name);
  DIMPLE_DEVICE_FUNCTIONS(DIMPLE_LOAD)
#undef DIMPLE_LOAD
  if (missing)
    return Error{ErrorCode::Unsupported, cat("The Vulkan device has no ", missing, "; Dimple needs Vulkan 1.2.")};
  return {};
}

Result<InstanceFunctions> loadInstanceFunctions(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance) {
  InstanceFunctions functions;
  functions.getInstanceProcAddr = getInstanceProcAddr;
  const char* missing = nullptr;
  const auto load = [&](auto& function, bool required = true) {
    function.load(getInstanceProcAddr(instance, function.name()));
    if (!function && required && !missing) missing = function.name();
  };
  load(functions.enumeratePhysicalDevices);
  load(functions.getPhysicalDeviceProperties2);
  load(functions.getPhysicalDeviceFeatures2);
  load(functions.getPhysicalDeviceMemoryProperties);
  load(functions.getPhysicalDeviceQueueFamilyProperties);
  load(functions.getPhysicalDeviceExternalBufferProperties);
  load(functions.getPhysicalDeviceExternalSemaphoreProperties);
  load(functions.enumerateDeviceExtensionProperties);
  load(functions.createDevice);
  load(functions.getPhysicalDeviceCooperativeMatrixProperties, false);
  load(functions.createDebugUtilsMessenger, false);
  load(functions.destroyDebugUtilsMessenger, false);
  load(functions.cmdBeginDebugUtilsLabel, false);
  load(functions.cmdEndDebugUtilsLabel, false);
  functions.getDeviceProcAddr =
      reinterpret_cast<PFN_vkGetDeviceProcAddr>(getInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
  if (!functions.getDeviceProcAddr && !missing) missing = "vkGetDeviceProcAddr";
  if (missing)
    return Error{ErrorCode::Unsupported, cat("The Vulkan instance has no ", missing, "; Dimple needs Vulkan 1.2.")};
  return functions;
}

}  // namespace dimple::vulkan
