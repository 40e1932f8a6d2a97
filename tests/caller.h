// A program's own Vulkan: an instance and a device.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <dimple.h>

namespace dimple::testing {

class Caller {
 public:
  // Enables `features`, which has to outlive it; null: none. `extension`: one more that is enabled, or null.
  explicit Caller(const VkPhysicalDeviceFeatures2* features = nullptr, const char* extension = nullptr) {
    if (volkInitialize() != VK_SUCCESS) return;
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instanceInfo{};
    instanceInfo.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instanceInfo.pApplicationInfo = &application;
    if (vkCreateInstance(&instanceInfo, nullptr, &desc_.Instance) != VK_SUCCESS) return;
    volkLoadInstanceOnly(desc_.Instance);
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(desc_.Instance, &count, &desc_.PhysicalDevice) < 0 || count == 0) return;
    const float priority = 1;
    VkDeviceQueueCreateInfo queueInfo{};
    queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queueInfo.queueCount = 1;
    queueInfo.pQueuePriorities = &priority;
    VkDeviceCreateInfo deviceInfo{};
    deviceInfo.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    deviceInfo.pNext = features;
    deviceInfo.queueCreateInfoCount = 1;
    deviceInfo.pQueueCreateInfos = &queueInfo;
    deviceInfo.enabledExtensionCount = extension ? 1 : 0;
    deviceInfo.ppEnabledExtensionNames = &extension;
    if (vkCreateDevice(desc_.PhysicalDevice, &deviceInfo, nullptr, &desc_.Device) != VK_SUCCESS)
      desc_.Device = VK_NULL_HANDLE;
    else
      volkLoadDeviceTable(&vk_, desc_.Device);
    desc_.EnabledFeatures = features;
  }
  ~Caller() {
    if (desc_.Device) vk_.vkDestroyDevice(desc_.Device, nullptr);
    if (desc_.Instance) vkDestroyInstance(desc_.Instance, nullptr);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  bool ready() const { return desc_.Device != VK_NULL_HANDLE; }
  const DimpleVulkanDeviceDesc& desc() const { return desc_; }
  const VolkDeviceTable& vk() const { return vk_; }

 private:
  DimpleVulkanDeviceDesc desc_{};
  VolkDeviceTable vk_{};
};

}  // namespace dimple::testing
