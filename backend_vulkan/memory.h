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
  // All of the memory that another device exported: an allocation of so many bytes that is not dedicated, in the first
  // memory type that is local to the device and takes such buffers. `file` is an opaque file descriptor, and stays the
  // caller's.
  static Result<std::unique_ptr<Buffer>> import(const Device& device, int file, uint64_t bytes,
                                                VkBufferUsageFlags usage);
  // To be asked first: whether the device imports at all.
  static Status checkImport(const Device& device, VkBufferUsageFlags usage);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkBuffer handle() const { return buffer_.get(); }
  uint64_t bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

 private:
  explicit Buffer(const Device& device, uint64_t bytes) : device_(device), bytes_(bytes) {}
  // Without memory; what it needs. `next`: more about it, or null.
  Result<VkMemoryRequirements> make(VkBufferUsageFlags usage, const void* next);
  Status allocate(VkMemoryRequirements needs, bool hostVisible, bool cached);

  const Device& device_;
  uint64_t bytes_;
  Handle<VkDeviceMemory> memory_;  // goes after the buffer
  Handle<VkBuffer> buffer_;
  std::byte* mapped_ = nullptr;
};

using ParameterMemory = ::dimple::ParameterMemory<Buffer>;

}  // namespace dimple::vulkan
