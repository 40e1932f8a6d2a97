#include "backend_vulkan/profiler.h"

#include "backend_vulkan/device.h"
#include "backend_vulkan/fault.h"

namespace dimple::vulkan {
namespace {

constexpr uint32_t kCapacity = 4096;  // dispatches between reads

}  // namespace

Result<std::unique_ptr<Profiler>> Profiler::create(const Device& device) {
  const auto& functions = device.instanceFunctions();
  const auto& handles = device.handles();
  const auto families = enumerate<VkQueueFamilyProperties>(
      [&](auto... list) { functions.getPhysicalDeviceQueueFamilyProperties(handles.physicalDevice, list...); });
  const uint32_t bits = families[handles.queueFamily].timestampValidBits;
  if (bits == 0) return Error{ErrorCode::Unsupported, "The device's compute queue has no timestamps."};
  if (!device.enabled().hostQueryReset)
    return Error{ErrorCode::Unsupported,
                 "Profiling needs host query resets (hostQueryReset), which this device lacks."};

  std::unique_ptr<Profiler> profiler(new Profiler(device));
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  functions.getPhysicalDeviceProperties2(handles.physicalDevice, &properties);
  profiler->nanosecondsPerTick_ = static_cast<double>(properties.properties.limits.timestampPeriod);
  profiler->tickMask_ = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const VkQueryPoolCreateInfo info{
      VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, kCapacity * 2, 0};
  if (const VkResult r = device.vk().vkCreateQueryPool(handles.device, &info, nullptr, &profiler->pool_))
    return fault("vkCreateQueryPool", r);
  device.vk().vkResetQueryPool(handles.device, profiler->pool_, 0, kCapacity * 2);
  return profiler;
}

Profiler::~Profiler() { device_.vk().vkDestroyQueryPool(device_.handles().device, pool_, nullptr); }

void Profiler::begin(VkCommandBuffer commands, std::string_view kernel) {
  std::lock_guard lock(mutex_);
  open_ = kernels_.size() < kCapacity;
  if (!open_) return;
  device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_,
                                   static_cast<uint32_t>(kernels_.size() * 2));
  kernels_.emplace_back(kernel);
}

void Profiler::end(VkCommandBuffer commands) {
  std::lock_guard lock(mutex_);
  if (open_)
    device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_,
                                     static_cast<uint32_t>(kernels_.size() * 2 - 1));
  open_ = false;
}

std::vector<Profiler::Entry> Profiler::read() {
  std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  std::vector<uint64_t> ticks(kernels_.size() * 2);
  const auto count = static_cast<uint32_t>(ticks.size());
  const auto& vk = device_.vk();
  if (count != 0 && vk.vkGetQueryPoolResults(device_.handles().device, pool_, 0, count, ticks.size() * sizeof(uint64_t),
                                             ticks.data(), sizeof(uint64_t), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS)
    for (size_t i = 0; i < kernels_.size(); ++i)
      entries.push_back(
          {kernels_[i], static_cast<double>((ticks[2 * i + 1] - ticks[2 * i]) & tickMask_) * nanosecondsPerTick_});
  vk.vkResetQueryPool(device_.handles().device, pool_, 0, kCapacity * 2);
  kernels_.clear();
  return entries;
}

}  // namespace dimple::vulkan
