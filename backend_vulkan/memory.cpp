#include "backend_vulkan/memory.h"

#include <vector>

#include "backend_vulkan/device.h"
#include "backend_vulkan/fault.h"
#include "core/text.h"

namespace dimple::vulkan {
Result<std::unique_ptr<Buffer>> Buffer::create(const Device& device, uint64_t bytes, VkBufferUsageFlags usage,
                                               bool hostVisible, bool cached) {
  std::unique_ptr<Buffer> buffer(new Buffer(device, bytes));
  const auto& vk = device.vk();
  const VkBufferCreateInfo info{
      VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, nullptr, 0, bytes, usage, VK_SHARING_MODE_EXCLUSIVE, 0, nullptr};
  if (const VkResult r = vk.vkCreateBuffer(device.handles().device, &info, nullptr, &buffer->buffer_))
    return fault("vkCreateBuffer", r);
  VkMemoryRequirements needs{};
  vk.vkGetBufferMemoryRequirements(device.handles().device, buffer->buffer_, &needs);
  constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // In order of preference; the last must exist on every device.
  std::vector<VkMemoryPropertyFlags> choices;
  if (!hostVisible)
    choices = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  else if (cached)
    choices = {kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kMapped};
  else
    choices = {kMapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kMapped};
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (const VkMemoryPropertyFlags flags : choices) {
    const auto type = device.memoryType(needs.memoryTypeBits, flags);
    if (!type) continue;
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, *type};
    result = vk.vkAllocateMemory(device.handles().device, &allocate, nullptr, &buffer->memory_);
    if (result == VK_SUCCESS) break;
  }
  if (result != VK_SUCCESS) return fault(cat("vkAllocateMemory of ", needs.size, " bytes"), result);
  if (const VkResult r = vk.vkBindBufferMemory(device.handles().device, buffer->buffer_, buffer->memory_, 0))
    return fault("vkBindBufferMemory", r);
  if (hostVisible) {
    void* address = nullptr;
    if (const VkResult r = vk.vkMapMemory(device.handles().device, buffer->memory_, 0, VK_WHOLE_SIZE, 0, &address))
      return fault("vkMapMemory", r);
    buffer->mapped_ = static_cast<std::byte*>(address);
  }
  return buffer;
}

Buffer::~Buffer() {
  device_.vk().vkDestroyBuffer(device_.handles().device, buffer_, nullptr);
  device_.vk().vkFreeMemory(device_.handles().device, memory_, nullptr);
}

}  // namespace dimple::vulkan
