// The calls of Vulkan of devices that Dimple opens: they can be made to fail, and the objects that they make are
// counted.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string_view>

namespace dimple::testing {

// Puts itself before the loader for all devices that are opened from now on.
void watchVulkan();

// While it lives, the watched function of this name answers `result` and does nothing else. One at a time.
class FailingCall {
 public:
  FailingCall(std::string_view function, VkResult result);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
};

// Objects of watched devices, memory among them, that are not destroyed. Instances and devices are counted too.
size_t liveVulkanObjects();

}  // namespace dimple::testing
