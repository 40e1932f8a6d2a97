#include "backend_vulkan/commands.h"

#include "backend_vulkan/opened_device.h"

namespace dimple::vulkan {

Result<std::unique_ptr<CommandList>> CommandList::create(std::shared_ptr<OpenedDevice> opened) {
  std::unique_ptr<CommandList> list(new CommandList(std::move(opened)));
  auto pool = list->opened_->createCommandPool();
  if (!pool) return pool.error();
  list->pool_ = std::move(*pool);
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, list->pool_.get(),
                                         VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  const Device& device = list->opened_->device();
  TRY(device.vk().vkAllocateCommandBuffers(device.handles().device, &info, &list->commands_));
  TRY(list->begin());
  return list;
}

CommandList::~CommandList() {
  if (!opened_->done(submitted_) && !opened_->settle()) pool_.release();
}

Status CommandList::begin() {
  if (recording()) return invalid("The command list is recording, expected a closed one.");
  if (!opened_->done(submitted_)) TRY(opened_->wait(submitted_));
  // ONE_TIME_SUBMIT is not set, because a closed list may execute many times.
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
  state_ = State::Failed;
  TRY(opened_->device().vk().vkBeginCommandBuffer(commands_, &info));
  state_ = State::Recording;
  return {};
}

Status CommandList::end() {
  if (!recording()) return invalid("The command list is closed, expected one that records.");
  state_ = State::Failed;
  Device& device = opened_->device();
  if (const Outcome outcome = device.vk().vkEndCommandBuffer(commands_); !outcome) {
    // The thread that closes a list may not be the one that asks the device.
    if (outcome.is(VK_ERROR_DEVICE_LOST)) device.setLost();
    return outcome.error();
  }
  state_ = State::Closed;
  return {};
}

Result<uint64_t> CommandList::submit() {
  if (recording()) return invalid("The command list is recording, expected a closed one.");
  if (state_ == State::Failed)
    return invalid("The command list could not be recorded, expected one that was closed without an error.");
  if (!opened_->done(submitted_)) TRY(opened_->wait(submitted_));
  auto value = opened_->submit(commands_);
  if (value) submitted_ = *value;
  return value;
}

}  // namespace dimple::vulkan
