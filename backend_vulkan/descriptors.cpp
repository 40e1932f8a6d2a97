#include "backend_vulkan/descriptors.h"

#include <algorithm>
#include <array>

#include "backend_vulkan/device.h"
#include "backend_vulkan/pipeline.h"
#include "core/text.h"

namespace dimple::vulkan {
namespace {

constexpr uint32_t kSetsPerPool = 256;

Result<Handle<VkDescriptorPool>> createPool(const Device& device, VkDescriptorType type, uint32_t descriptorsPerSet,
                                            bool updateAfterBind) {
  const VkDescriptorPoolSize size{type, kSetsPerPool * descriptorsPerSet};
  const VkDescriptorPoolCreateInfo info{
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      nullptr,
      updateAfterBind ? VkDescriptorPoolCreateFlags{VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT} : 0,
      kSetsPerPool,
      1,
      &size};
  return create(device.handles().device, info, device.vk().vkCreateDescriptorPool, device.vk().vkDestroyDescriptorPool);
}

Result<std::vector<VkDescriptorSet>> allocateSets(const Device& device, VkDescriptorPool pool,
                                                  std::span<const VkDescriptorSetLayout> layouts) {
  const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool,
                                         static_cast<uint32_t>(layouts.size()), layouts.data()};
  std::vector<VkDescriptorSet> sets(layouts.size());
  TRY(device.vk().vkAllocateDescriptorSets(device.handles().device, &info, sets.data()));
  return sets;
}

}  // namespace

Result<std::unique_ptr<DescriptorLayouts>> DescriptorLayouts::create(const Device& device) {
  std::unique_ptr<DescriptorLayouts> layouts(new DescriptorLayouts(device));
  const VkDescriptorSetLayoutBinding block{0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, VK_SHADER_STAGE_COMPUTE_BIT,
                                           nullptr};
  const VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, 1,
                                             &block};
  auto parameters = vulkan::create(device.handles().device, info, device.vk().vkCreateDescriptorSetLayout,
                                   device.vk().vkDestroyDescriptorSetLayout);
  if (!parameters) return parameters.error();
  layouts->parameters_ = std::move(*parameters);
  for (uint32_t count = 0; count <= kMaxBindings; ++count) TRY(layouts->add(count));
  return layouts;
}

Status DescriptorLayouts::add(uint32_t count) {
  const auto& vk = device_.vk();
  const VkDevice handle = device_.handles().device;
  std::array<VkDescriptorSetLayoutBinding, kMaxBindings> bindings{};
  std::array<VkDescriptorBindingFlags, kMaxBindings> flags{};
  for (uint32_t i = 0; i < kMaxBindings; ++i) {
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    flags[i] = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
  }
  const bool late = device_.enabled().updateAfterBind && count > 0;
  const VkDescriptorSetLayoutBindingFlagsCreateInfo flagsInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, count, flags.data()};
  const VkDescriptorSetLayoutCreateInfo setInfo{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, late ? &flagsInfo : nullptr,
      late ? VkDescriptorSetLayoutCreateFlags{VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT} : 0, count,
      bindings.data()};
  auto set = vulkan::create(handle, setInfo, vk.vkCreateDescriptorSetLayout, vk.vkDestroyDescriptorSetLayout);
  if (!set) return set.error();
  sets_[count] = std::move(*set);

  const std::array setLayouts{sets_[count].get(), parameters_.get()};
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, device_.caps().pushBytes};
  const VkPipelineLayoutCreateInfo pipelineInfo{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                nullptr,
                                                0,
                                                static_cast<uint32_t>(setLayouts.size()),
                                                setLayouts.data(),
                                                1,
                                                &push};
  auto pipeline = vulkan::create(handle, pipelineInfo, vk.vkCreatePipelineLayout, vk.vkDestroyPipelineLayout);
  if (!pipeline) return pipeline.error();
  pipelines_[count] = std::move(*pipeline);
  return {};
}

Result<VkDescriptorSet> DescriptorLayouts::parameterSet(VkBuffer buffer) {
  std::lock_guard lock(mutex_);
  if (const auto found = parameterSets_.find(buffer); found != parameterSets_.end()) return found->second;
  if (pools_.empty() || setsInPool_ == kSetsPerPool) {
    auto pool = createPool(device_, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, false);
    if (!pool) return pool.error();
    pools_.push_back(std::move(*pool));
    setsInPool_ = 0;
  }
  const VkDescriptorSetLayout layout = parameters();
  auto sets = allocateSets(device_, pools_.back().get(), {&layout, 1});
  if (!sets) return sets.error();
  const VkDescriptorSet set = sets->front();
  ++setsInPool_;
  const VkDescriptorBufferInfo info{buffer, 0, kParameterBlockBytes};
  const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,    nullptr, set,   0,      0, 1,
                                   VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, nullptr, &info, nullptr};
  device_.vk().vkUpdateDescriptorSets(device_.handles().device, 1, &write, 0, nullptr);
  parameterSets_.emplace(buffer, set);
  return set;
}

DescriptorHeap::~DescriptorHeap() {
  if (device_.settle()) return;
  for (auto& pool : pools_) pool.release();
}

Result<size_t> DescriptorHeap::allocate(std::span<const Place> places) {
  if (pools_.empty() || setsInPool_ == kSetsPerPool) {
    auto pool = createPool(device_, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kMaxBindings, device_.enabled().updateAfterBind);
    if (!pool) return pool.error();
    pools_.push_back(std::move(*pool));
    setsInPool_ = 0;
  }
  places = places.first(std::min<size_t>(places.size(), kSetsPerPool - setsInPool_));
  std::vector<VkDescriptorSetLayout> layouts;
  for (const auto& [first, bufferCount] : places) layouts.push_back(device_.layouts().buffers(bufferCount));
  const auto made = allocateSets(device_, pools_.back().get(), layouts);
  if (!made) return made.error();
  for (size_t i = 0; i < places.size(); ++i) sets_.emplace(places[i], (*made)[i]);
  setsInPool_ += static_cast<uint32_t>(places.size());
  return places.size();
}

Result<std::vector<VkDescriptorSet>> DescriptorHeap::sets(uint32_t first, std::span<const uint32_t> bufferCounts) {
  std::lock_guard lock(mutex_);
  std::vector<VkDescriptorSet> sets;
  std::vector<Place> missing;
  sets.reserve(bufferCounts.size());
  for (uint32_t place = first; const uint32_t bufferCount : bufferCounts) {
    const auto found = sets_.find({place, bufferCount});
    sets.push_back(found == sets_.end() ? VK_NULL_HANDLE : found->second);
    if (found == sets_.end()) missing.push_back({place, bufferCount});
    place += bufferCount;
  }
  if (missing.empty()) return sets;
  for (std::span<const Place> left = missing; !left.empty();) {
    const auto made = allocate(left);
    if (!made) return made.error();
    left = left.subspan(*made);
  }
  sets.clear();
  for (const uint32_t bufferCount : bufferCounts) {
    sets.push_back(sets_.at({first, bufferCount}));
    first += bufferCount;
  }
  return sets;
}

Status HeapSets::write(std::span<const DescriptorWrite> writes) {
  std::vector<VkDescriptorBufferInfo> infos;
  std::vector<VkWriteDescriptorSet> updates;
  infos.reserve(writes.size());
  updates.reserve(writes.size());
  for (const DescriptorWrite& write : writes) {
    infos.push_back({reinterpret_cast<VkBuffer>(write.buffer.handle), write.offset, write.bytes});
    updates.push_back({VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, sets_[write.dispatch],
                       static_cast<uint32_t>(write.binding), 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr,
                       &infos.back(), nullptr});
  }
  const Device& device = heap_->device();
  device.vk().vkUpdateDescriptorSets(device.handles().device, static_cast<uint32_t>(updates.size()), updates.data(), 0,
                                     nullptr);
  return {};
}

Result<std::unique_ptr<DescriptorSets>> Device::describe(const Executable& executable, const DescriptorRange& range) {
  const auto& plan = static_cast<const PlanExecutable&>(executable);
  auto& heap = *static_cast<DescriptorHeap*>(range.heap);
  std::vector<uint32_t> bufferCounts;
  for (const auto& dispatch : plan.dispatches())
    if (!dispatch.sharesDescriptors) bufferCounts.push_back(dispatch.bufferCount);
  const auto own = heap.sets(static_cast<uint32_t>(range.cpuStart), bufferCounts);
  if (!own) return own.error();
  std::vector<VkDescriptorSet> sets;
  size_t next = 0;
  for (const auto& dispatch : plan.dispatches())
    sets.push_back(dispatch.sharesDescriptors ? sets.back() : (*own)[next++]);
  return std::unique_ptr<DescriptorSets>(std::make_unique<HeapSets>(heap.shared_from_this(), std::move(sets)));
}

}  // namespace dimple::vulkan
