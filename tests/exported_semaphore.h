// A timeline semaphore of a Vulkan device beside Dimple's own.
#pragma once

#include <unistd.h>

#include <chrono>

#include "tests/caller.h"

namespace dimple::testing {

class ExportedSemaphore {
 public:
  ExportedSemaphore() : caller_(&features(), VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) {
    if (!caller_.ready()) return;
    constexpr VkExternalSemaphoreHandleTypeFlagBits kFile = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                         VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkExportSemaphoreCreateInfo exported{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, &type, kFile};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &exported, 0};
    if (vk().vkCreateSemaphore(device(), &info, nullptr, &semaphore_) != VK_SUCCESS) return;
    const VkSemaphoreGetFdInfoKHR get{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, nullptr, semaphore_, kFile};
    if (vk().vkGetSemaphoreFdKHR(device(), &get, &file_) != VK_SUCCESS) file_ = -1;
    vk().vkGetDeviceQueue(device(), 0, 0, &queue_);
  }
  ~ExportedSemaphore() {
    if (file_ >= 0) close(file_);
    if (!semaphore_) return;
    vk().vkDeviceWaitIdle(device());
    vk().vkDestroySemaphore(device(), semaphore_, nullptr);
  }
  ExportedSemaphore(const ExportedSemaphore&) = delete;

  // -1: the device exports none.
  int file() const { return file_; }

  // By the device's queue.
  bool signal(uint64_t value) const {
    const VkTimelineSemaphoreSubmitInfo timeline{
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 0, nullptr, 1, &value};
    const VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline, 0, nullptr, nullptr, 0, nullptr, 1, &semaphore_};
    return vk().vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS;
  }
  // False if the semaphore has not the value by then.
  bool wait(uint64_t value, std::chrono::nanoseconds most) const {
    const VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &semaphore_, &value};
    return vk().vkWaitSemaphores(device(), &info, static_cast<uint64_t>(most.count())) == VK_SUCCESS;
  }
  uint64_t value() const {
    uint64_t reached = 0;
    vk().vkGetSemaphoreCounterValue(device(), semaphore_, &reached);
    return reached;
  }
  // How far a value may be ahead of what the semaphore has reached.
  uint64_t mostAhead() const {
    VkPhysicalDeviceTimelineSemaphoreProperties timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &timeline;
    vkGetPhysicalDeviceProperties2(caller_.desc().PhysicalDevice, &properties);
    return timeline.maxTimelineSemaphoreValueDifference;
  }

 private:
  static const VkPhysicalDeviceFeatures2& features() {
    static VkPhysicalDeviceVulkan12Features timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    timeline.timelineSemaphore = VK_TRUE;
    static VkPhysicalDeviceFeatures2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    all.pNext = &timeline;
    return all;
  }
  const VolkDeviceTable& vk() const { return caller_.vk(); }
  VkDevice device() const { return caller_.desc().Device; }

  const Caller caller_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  int file_ = -1;
};

}  // namespace dimple::testing
