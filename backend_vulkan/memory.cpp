#include "backend_vulkan/memory.h"

#include <array>
#include <utility>

#include "backend_vulkan/device.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

// These are in order of preference. The last one must exist on every device.
std::array<VkMemoryPropertyFlags, 2> choicesOf(bool hostVisible, bool cached) {
  if (!hostVisible) return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  if (cached) return {kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, kMapped};
  return {kMapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, kMapped};
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::create(const Device& device, uint64_t bytes, VkBufferUsageFlags usage,
                                               bool hostVisible, bool cached) {
  std::unique_ptr<Buffer> buffer(new Buffer(device, bytes));
  const auto& vk = device.vk();
  const VkDevice handle = device.handles().device;
  const auto needs = buffer->make(usage, nullptr);
  TRY(needs);
  TRY(buffer->allocate(*needs, hostVisible, cached));
  TRY(vk.vkBindBufferMemory(handle, buffer->handle(), buffer->memory_.get(), 0));
  if (!hostVisible) return buffer;
  void* address = nullptr;
  TRY(vk.vkMapMemory(handle, buffer->memory_.get(), 0, VK_WHOLE_SIZE, 0, &address));
  buffer->mapped_ = static_cast<std::byte*>(address);
  return buffer;
}

Result<VkMemoryRequirements> Buffer::make(VkBufferUsageFlags usage, const void* next) {
  const auto& vk = device_.vk();
  const VkDevice handle = device_.handles().device;
  const VkBufferCreateInfo info{
      VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, next, 0, bytes_, usage, VK_SHARING_MODE_EXCLUSIVE, 0, nullptr};
  auto made = vulkan::create(handle, info, vk.vkCreateBuffer, vk.vkDestroyBuffer);
  TRY(made);
  buffer_ = std::move(*made);
  VkMemoryRequirements needs{};
  vk.vkGetBufferMemoryRequirements(handle, buffer_.get(), &needs);
  return needs;
}

Status Buffer::allocate(VkMemoryRequirements needs, bool hostVisible, bool cached) {
  const auto& vk = device_.vk();
  const VkDevice handle = device_.handles().device;
  Outcome outcome(vk.vkAllocateMemory.name(), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  for (const VkMemoryPropertyFlags flags : choicesOf(hostVisible, cached)) {
    const auto type = device_.memoryType(needs.memoryTypeBits, flags);
    if (!type) continue;
    const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, *type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    outcome = vk.vkAllocateMemory(handle, &info, nullptr, &memory);
    if (!outcome) continue;
    memory_ = Handle<VkDeviceMemory>(handle, memory, vk.vkFreeMemory);
    return {};
  }
  return outcome.error(cat(" of ", needs.size, " bytes"));
}

Buffer::~Buffer() {
  if (device_.settle()) return;
  buffer_.release();
  memory_.release();
}

}  // namespace dimple::vulkan
