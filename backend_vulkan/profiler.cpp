#include "backend_vulkan/profiler.h"

#include <algorithm>

#include "backend_vulkan/device.h"

namespace dimple::vulkan {
namespace {

constexpr uint32_t kCapacity = 4096;  // dispatches between reads

}  // namespace

Result<std::unique_ptr<Profiler>> Profiler::create(const Device& device) {
  const auto& functions = device.instanceFunctions();
  const auto& handles = device.handles();
  const auto families = enumerate<VkQueueFamilyProperties>(
      [&](auto... list) { functions.getPhysicalDeviceQueueFamilyProperties(handles.physicalDevice, list...); });
  TRY(families);
  const uint32_t bits =
      handles.queueFamily < families->size() ? (*families)[handles.queueFamily].timestampValidBits : 0;
  if (bits == 0) return Error{ErrorCode::Unsupported, "The device's compute queue has no timestamps."};
  if (!device.enabled().hostQueryReset)
    return Error{ErrorCode::Unsupported,
                 "Profiling needs host query resets (hostQueryReset), which this device lacks."};

  std::unique_ptr<Profiler> profiler(new Profiler(device));
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  functions.getPhysicalDeviceProperties2(handles.physicalDevice, &properties);
  profiler->nanosecondsPerTick_ = static_cast<double>(properties.properties.limits.timestampPeriod);
  profiler->unusedTickBits_ = 64 - std::min(bits, 64u);
  const VkQueryPoolCreateInfo info{
      VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, kCapacity * 2, 0};
  auto pool = vulkan::create(handles.device, info, device.vk().vkCreateQueryPool, device.vk().vkDestroyQueryPool);
  if (!pool) return pool.error();
  profiler->pool_ = std::move(*pool);
  profiler->clear();
  return profiler;
}

void Profiler::begin(VkCommandBuffer commands, std::string_view kernel) {
  std::lock_guard lock(mutex_);
  open_ = kernels_.size() < kCapacity;
  if (!open_) return;
  device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_.get(),
                                   static_cast<uint32_t>(kernels_.size() * 2));
  kernels_.emplace_back(kernel);
}

void Profiler::end(VkCommandBuffer commands) {
  std::lock_guard lock(mutex_);
  if (open_)
    device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_.get(),
                                     static_cast<uint32_t>(kernels_.size() * 2 - 1));
  open_ = false;
}

Result<std::vector<Profiler::Entry>> Profiler::read() {
  std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  std::vector<uint64_t> ticks(kernels_.size() * 2);
  const auto& vk = device_.vk();
  const VkDevice handle = device_.handles().device;
  if (!ticks.empty()) {
    const Outcome outcome = vk.vkGetQueryPoolResults(handle, pool_.get(), 0, static_cast<uint32_t>(ticks.size()),
                                                     ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                                     VK_QUERY_RESULT_64_BIT);
    if (!outcome && !outcome.is(VK_NOT_READY)) return outcome.error();
    if (outcome && !firstTick_) firstTick_ = ticks[0];
    // Counters wrap around at the bits that they have. A dispatch may begin before one that was recorded earlier.
    const auto nanoseconds = [&](uint64_t from, uint64_t to) {
      return static_cast<double>(static_cast<int64_t>((to - from) << unusedTickBits_) >> unusedTickBits_) *
             nanosecondsPerTick_;
    };
    for (size_t i = 0; outcome && i < kernels_.size(); ++i) {
      const uint64_t begin = ticks[2 * i];
      entries.push_back({kernels_[i], nanoseconds(*firstTick_, begin), nanoseconds(begin, ticks[2 * i + 1])});
    }
  }
  reset();
  return entries;
}

void Profiler::clear() {
  std::lock_guard lock(mutex_);
  reset();
  firstTick_.reset();
}

// Queries that are in use cannot be reset.
void Profiler::reset() {
  if (!device_.settle()) return;
  device_.vk().vkResetQueryPool(device_.handles().device, pool_.get(), 0, kCapacity * 2);
  kernels_.clear();
}

}  // namespace dimple::vulkan
