// Device memory: buffers for callers that own no Vulkan, and the blocks that hold parameters.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend_vulkan/vulkan.h"
#include "core/result.h"

namespace dimple::vulkan {

class Device;

// A buffer with memory of its own.
class Buffer {
 public:
  // `hostVisible`: mapped for its lifetime and coherent; else device-local.
  static Result<std::unique_ptr<Buffer>> create(const Device& device, uint64_t bytes, VkBufferUsageFlags usage,
                                                bool hostVisible, bool cached = false);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_; }
  uint64_t bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

 private:
  explicit Buffer(const Device& device, uint64_t bytes) : device_(device), bytes_(bytes) {}

  const Device& device_;
  uint64_t bytes_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
};

// Storage for parameter blocks, sub-allocated from mapped uniform buffers, because devices limit the number of memory
// allocations. Thread-safe.
class ParameterMemory {
 public:
  struct Block {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    size_t chunk = 0;
  };

  explicit ParameterMemory(const Device& device) : device_(device) {}

  // A block that holds `words`, followed by kParameterBlockBytes that a kernel's whole block may span.
  Result<Block> store(std::span<const uint32_t> words);
  void free(const Block& block);

 private:
  struct Chunk {
    std::unique_ptr<Buffer> buffer;
    std::map<uint64_t, uint64_t> holes;  // offset -> bytes
  };

  const Device& device_;
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

}  // namespace dimple::vulkan
