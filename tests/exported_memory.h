// Memory of a Vulkan device beside Dimple's own.
#pragma once

#include <unistd.h>

#include "tests/caller.h"

namespace dimple::testing {

class ExportedMemory {
 public:
  // At least so many bytes.
  explicit ExportedMemory(uint64_t bytes) : caller_(nullptr, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) {
    if (!caller_.ready()) return;
    const VkDevice device = caller_.desc().Device;
    constexpr VkExternalMemoryHandleTypeFlags kFile = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                                    kFile};
    const VkBufferCreateInfo bufferInfo{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                        &external,
                                        0,
                                        bytes,
                                        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                        VK_SHARING_MODE_EXCLUSIVE,
                                        0,
                                        nullptr};
    VkBuffer buffer = VK_NULL_HANDLE;
    if (vk().vkCreateBuffer(device, &bufferInfo, nullptr, &buffer) != VK_SUCCESS) return;
    VkMemoryRequirements needs{};
    vk().vkGetBufferMemoryRequirements(device, buffer, &needs);
    vk().vkDestroyBuffer(device, buffer, nullptr);
    const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr, kFile};
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exported, needs.size, 0};
    while (!fits(needs.memoryTypeBits, info.memoryTypeIndex)) ++info.memoryTypeIndex;
    if (vk().vkAllocateMemory(device, &info, nullptr, &memory_) != VK_SUCCESS) return;
    const VkMemoryGetFdInfoKHR get{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, nullptr, memory_,
                                   VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    if (vk().vkGetMemoryFdKHR(device, &get, &file_) != VK_SUCCESS) file_ = -1;
    bytes_ = needs.size;
  }
  ~ExportedMemory() {
    if (file_ >= 0) close(file_);
    if (memory_) vk().vkFreeMemory(caller_.desc().Device, memory_, nullptr);
  }
  ExportedMemory(const ExportedMemory&) = delete;

  // -1: the device exports none.
  int file() const { return file_; }
  uint64_t bytes() const { return bytes_; }

 private:
  const VolkDeviceTable& vk() const { return caller_.vk(); }
  bool fits(uint32_t typeBits, uint32_t index) const {
    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(caller_.desc().PhysicalDevice, &memory);
    return index >= memory.memoryTypeCount ||
           ((typeBits >> index & 1) && (memory.memoryTypes[index].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
  }

  const Caller caller_;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint64_t bytes_ = 0;
  int file_ = -1;
};

}  // namespace dimple::testing
