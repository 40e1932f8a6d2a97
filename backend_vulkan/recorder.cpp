// Records an executable's dispatches into the caller's command buffer.
#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/device.h"
#include "backend_vulkan/pipeline.h"
#include "backend_vulkan/profiler.h"

namespace dimple::vulkan {
namespace {

void recordBarrier(const DeviceFunctions& vk, VkCommandBuffer commands) {
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
  vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                          &barrier, 0, nullptr, 0, nullptr);
}

// The sets that a command buffer has bound. Parameters are bound anew only if they must be: lavapipe copies a set with
// dynamic offsets each time, and spends one of the 65,530 mappings of a process on the copy until the work is done.
class BoundSets {
 public:
  BoundSets(const DeviceFunctions& vk, VkCommandBuffer commands) : vk_(vk), commands_(commands) {}

  void bind(VkPipelineLayout layout, VkDescriptorSet buffers, VkDescriptorSet parameters, uint32_t offset) {
    const bool compatible = layout == layout_;
    if (!compatible || buffers != buffers_) bindSet(layout, 0, buffers, {});
    if (!compatible || offset != offset_) bindSet(layout, 1, parameters, {&offset, 1});
    layout_ = layout;
    buffers_ = buffers;
    offset_ = offset;
  }

 private:
  void bindSet(VkPipelineLayout layout, uint32_t number, VkDescriptorSet set, std::span<const uint32_t> offsets) const {
    vk_.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, number, 1, &set,
                                static_cast<uint32_t>(offsets.size()), offsets.data());
  }

  const DeviceFunctions& vk_;
  const VkCommandBuffer commands_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorSet buffers_ = VK_NULL_HANDLE;
  uint32_t offset_ = 0;
};

class Label {
 public:
  Label(const Device& device, VkCommandBuffer commands, const std::string& name)
      : device_(device), commands_(commands) {
    const auto& functions = device_.instanceFunctions();
    if (!functions.cmdBeginDebugUtilsLabel || !functions.cmdEndDebugUtilsLabel) return;
    const VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, name.c_str(), {}};
    functions.cmdBeginDebugUtilsLabel(commands_, &label);
    open_ = true;
  }
  ~Label() {
    if (open_) device_.instanceFunctions().cmdEndDebugUtilsLabel(commands_);
  }
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  const Device& device_;
  const VkCommandBuffer commands_;
  bool open_ = false;
};

}  // namespace

void Device::record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
                    std::string_view label) {
  if (lost_) return;
  const auto commands = reinterpret_cast<VkCommandBuffer>(commandList);
  const auto& plan = static_cast<const PlanExecutable&>(executable);
  const auto& heapSets = static_cast<const HeapSets&>(sets);
  const Label outer(*this, commands, std::string(label));
  BoundSets bound(vk_, commands);
  Profiler* const timer = profiler();
  for (size_t i = 0; i < plan.dispatches().size(); ++i) {
    const auto& item = plan.dispatches()[i];
    const Label inner(*this, commands, item.marker);
    if (item.barrierBefore) recordBarrier(vk_, commands);
    const VkPipelineLayout layout = layouts_->pipeline(item.bufferCount);
    vk_.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, item.pipeline->get());
    bound.bind(layout, heapSets.set(i), plan.parameterSet(), item.parameterOffset);
    vk_.vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<uint32_t>(item.push.size() * sizeof(uint32_t)), item.push.data());
    if (timer) timer->begin(commands, item.kernel);
    vk_.vkCmdDispatch(commands, item.groups[0], item.groups[1], item.groups[2]);
    if (timer) timer->end(commands);
  }
}

}  // namespace dimple::vulkan
