#include "backend_vulkan/memory.h"

#include <algorithm>
#include <cstring>

#include "backend_vulkan/device.h"
#include "backend_vulkan/fault.h"
#include "core/checked.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

constexpr uint64_t kChunkBytes = 256 * 1024;

}  // namespace

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

Result<ParameterMemory::Block> ParameterMemory::store(std::span<const uint32_t> words) {
  const uint64_t bytes = alignUp(words.size_bytes() + kParameterBlockBytes, device_.caps().parameterAlignment);
  std::lock_guard lock(mutex_);
  const auto take = [&](size_t index) -> std::optional<Block> {
    auto& holes = chunks_[index].holes;
    const auto hole = std::find_if(holes.begin(), holes.end(), [&](const auto& h) { return h.second >= bytes; });
    if (hole == holes.end()) return std::nullopt;
    const auto [offset, free] = *hole;
    holes.erase(hole);
    if (free > bytes) holes.emplace(offset + bytes, free - bytes);
    return Block{chunks_[index].buffer->handle(), offset, bytes, index};
  };
  std::optional<Block> block;
  for (size_t i = 0; i < chunks_.size() && !block; ++i) block = take(i);
  if (!block) {
    auto buffer = Buffer::create(device_, std::max(kChunkBytes, bytes), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, true);
    if (!buffer) return buffer.error();
    const uint64_t size = (*buffer)->bytes();
    chunks_.push_back({std::move(*buffer), {{0, size}}});
    block = take(chunks_.size() - 1);
  }
  std::byte* target = chunks_[block->chunk].buffer->mapped() + block->offset;
  std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(target));
  std::memset(target + words.size_bytes(), 0, bytes - words.size_bytes());
  return *block;
}

void ParameterMemory::free(const Block& block) {
  std::lock_guard lock(mutex_);
  auto& holes = chunks_[block.chunk].holes;
  auto [hole, inserted] = holes.emplace(block.offset, block.bytes);
  if (const auto next = std::next(hole); next != holes.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    holes.erase(next);
  }
  if (hole != holes.begin())
    if (const auto previous = std::prev(hole); previous->first + previous->second == hole->first) {
      previous->second += hole->second;
      holes.erase(hole);
    }
}

}  // namespace dimple::vulkan
