#include "backend_vulkan/descriptors.h"

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

Result<VkDescriptorSet> allocateSet(const Device& device, VkDescriptorPool pool, VkDescriptorSetLayout layout) {
  const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, pool, 1, &layout};
  VkDescriptorSet set = VK_NULL_HANDLE;
  TRY(device.vk().vkAllocateDescriptorSets(device.handles().device, &info, &set));
  return set;
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
  auto set = allocateSet(device_, pools_.back().get(), parameters());
  if (!set) return set;
  ++setsInPool_;
  const VkDescriptorBufferInfo info{buffer, 0, kParameterBlockBytes};
  const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,    nullptr, *set,  0,      0, 1,
                                   VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, nullptr, &info, nullptr};
  device_.vk().vkUpdateDescriptorSets(device_.handles().device, 1, &write, 0, nullptr);
  parameterSets_.emplace(buffer, *set);
  return set;
}

DescriptorHeap::~DescriptorHeap() {
  if (device_.settle()) return;
  for (auto& pool : pools_) pool.release();
}

Result<VkDescriptorSet> DescriptorHeap::set(uint32_t first, uint32_t bufferCount) {
  std::lock_guard lock(mutex_);
  if (const auto found = sets_.find({first, bufferCount}); found != sets_.end()) return found->second;
  if (pools_.empty() || setsInPool_ == kSetsPerPool) {
    auto pool = createPool(device_, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kMaxBindings, device_.enabled().updateAfterBind);
    if (!pool) return pool.error();
    pools_.push_back(std::move(*pool));
    setsInPool_ = 0;
  }
  auto set = allocateSet(device_, pools_.back().get(), device_.layouts().buffers(bufferCount));
  if (!set) return set;
  ++setsInPool_;
  sets_.emplace(std::pair{first, bufferCount}, *set);
  return set;
}

Status HeapSets::write(size_t dispatch, size_t binding, const NativeBuffer& buffer, uint64_t offset, uint64_t bytes) {
  const VkDescriptorBufferInfo info{reinterpret_cast<VkBuffer>(buffer.handle), offset, bytes};
  const VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   nullptr,
                                   sets_[dispatch],
                                   static_cast<uint32_t>(binding),
                                   0,
                                   1,
                                   VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                   nullptr,
                                   &info,
                                   nullptr};
  const Device& device = heap_->device();
  device.vk().vkUpdateDescriptorSets(device.handles().device, 1, &write, 0, nullptr);
  return {};
}

Result<std::unique_ptr<DescriptorSets>> Device::describe(const Executable& executable, const DescriptorRange& range) {
  const auto& plan = static_cast<const PlanExecutable&>(executable);
  auto& heap = *static_cast<DescriptorHeap*>(range.heap);
  std::vector<VkDescriptorSet> sets;
  auto first = static_cast<uint32_t>(range.cpuStart);
  for (const auto& dispatch : plan.dispatches()) {
    if (dispatch.sharesDescriptors) {
      sets.push_back(sets.back());
      continue;
    }
    auto set = heap.set(first, dispatch.bufferCount);
    if (!set) return set.error();
    sets.push_back(*set);
    first += dispatch.bufferCount;
  }
  return std::unique_ptr<DescriptorSets>(std::make_unique<HeapSets>(heap.shared_from_this(), std::move(sets)));
}

}  // namespace dimple::vulkan
