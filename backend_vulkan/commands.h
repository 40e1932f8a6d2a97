// A command list of Dimple's own queue.
#pragma once

#include <cstdint>
#include <memory>

#include "backend_vulkan/handle.h"

namespace dimple::vulkan {

class OpenedDevice;

// A command buffer with a pool of its own, so that lists record on different threads. It records, or is closed and can
// be executed, or is neither since a call failed, until it is opened again.
class CommandList {
 public:
  // In the recording state.
  static Result<std::unique_ptr<CommandList>> create(std::shared_ptr<OpenedDevice> opened);
  ~CommandList();
  CommandList(const CommandList&) = delete;
  CommandList& operator=(const CommandList&) = delete;

  VkCommandBuffer handle() const { return commands_; }
  bool recording() const { return state_ == State::Recording; }
  // Empties it, once it has executed, and opens it.
  Status begin();
  Status end();
  // The value to wait for. Waits for its execution before.
  Result<uint64_t> submit();

 private:
  enum class State { Recording, Closed, Failed };
  explicit CommandList(std::shared_ptr<OpenedDevice> opened) : opened_(std::move(opened)) {}

  const std::shared_ptr<OpenedDevice> opened_;
  Handle<VkCommandPool> pool_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  State state_ = State::Failed;
  uint64_t submitted_ = 0;  // the value of its last execution
};

}  // namespace dimple::vulkan
