// Timeline semaphores that another Vulkan device exported.
#pragma once

#include <memory>

#include "backend_vulkan/device.h"
#include "backend_vulkan/handle.h"

namespace dimple::vulkan {

class Semaphore {
 public:
  // Whether the device imports any.
  static Status checkImport(const Device& device);
  // `file` stays the caller's.
  static Result<std::unique_ptr<Semaphore>> import(const Device& device, int file);

  // Waits for what uses it.
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;

  VkSemaphore handle() const { return semaphore_.get(); }
  // What it has reached.
  Result<uint64_t> value() const;
  // Refuse what the device could not wait for, or set it to.
  Status checkWait(uint64_t value) const;
  Status checkSignal(uint64_t value) const;
  // What uses it was submitted, and signals it with `signalled`, if that is not 0. One at a time, like checkSignal.
  void setUsed(uint64_t signalled);

 private:
  Semaphore(const Device& device, Handle<VkSemaphore> semaphore, uint64_t mostAhead)
      : device_(device), semaphore_(std::move(semaphore)), mostAhead_(mostAhead) {}
  Status checkAhead(uint64_t value, uint64_t reached) const;

  const Device& device_;
  Handle<VkSemaphore> semaphore_;
  const uint64_t mostAhead_;  // of what it has reached
  bool used_ = false;
  uint64_t signalled_ = 0;  // last
};

}  // namespace dimple::vulkan
