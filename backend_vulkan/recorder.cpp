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
  Profiler* const timer = profiler();
  for (size_t i = 0; i < plan.dispatches().size(); ++i) {
    const auto& item = plan.dispatches()[i];
    const Label inner(*this, commands, item.marker);
    if (item.barrierBefore) recordBarrier(vk_, commands);
    const VkPipelineLayout layout = layouts_->pipeline(item.bufferCount);
    const VkDescriptorSet both[] = {heapSets.set(i), plan.parameterSet()};
    vk_.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, item.pipeline);
    vk_.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 2, both, 1, &item.parameterOffset);
    vk_.vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<uint32_t>(item.push.size() * sizeof(uint32_t)), item.push.data());
    if (timer) timer->begin(commands, item.kernel);
    vk_.vkCmdDispatch(commands, item.groups[0], item.groups[1], item.groups[2]);
    if (timer) timer->end(commands);
  }
}

}  // namespace dimple::vulkan
