// Device memory: buffers for callers that own no Vulkan, and for parameter blocks.
#pragma once

#include <memory>

#include "backend_vulkan/handle.h"
#include "core/result.h"
#include "core/support/parameter_memory.h"

namespace dimple::vulkan {

class Device;

// A buffer with memory of its own. It is freed when what was submitted on Dimple's own queue no longer uses it.
class Buffer {
 public:
  // `hostVisible`: mapped for its lifetime and coherent; else device-local.
  static Result<std::unique_ptr<Buffer>> create(const Device& device, uint64_t bytes, VkBufferUsageFlags usage,
                                                bool hostVisible, bool cached = false);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_.get(); }
  uint64_t bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

 private:
  explicit Buffer(const Device& device, uint64_t bytes) : device_(device), bytes_(bytes) {}
  Status allocate(VkMemoryRequirements needs, bool hostVisible, bool cached);

  const Device& device_;
  uint64_t bytes_;
  Handle<VkDeviceMemory> memory_;  // goes after the buffer
  Handle<VkBuffer> buffer_;
  std::byte* mapped_ = nullptr;
};

using ParameterMemory = ::dimple::ParameterMemory<Buffer>;

}  // namespace dimple::vulkan
