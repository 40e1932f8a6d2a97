#include "backend_vulkan/pipeline.h"

#include <algorithm>

#include "backend_vulkan/cache_file.h"
#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/device.h"
#include "backend_vulkan/replacement.h"
#include "backend_vulkan/rounded_halves.h"
#include "backend_vulkan/specialize.h"
#include "core/checked.h"
#include "core/plan/plan.h"
#include "core/support/parallel.h"
#include "core/text.h"
#include "kernels/kernel_code.h"

namespace dimple::vulkan {
namespace {

static_assert(static_cast<uint32_t>(Feature::Storage16) == static_cast<uint32_t>(KernelFeature::Storage16) &&
              static_cast<uint32_t>(Feature::SubgroupShuffle) ==
                  static_cast<uint32_t>(KernelFeature::SubgroupShuffle) &&
              static_cast<uint32_t>(Feature::CooperativeMatrix) ==
                  static_cast<uint32_t>(KernelFeature::CooperativeMatrix) &&
              static_cast<uint32_t>(Feature::MemoryModel) == static_cast<uint32_t>(KernelFeature::MemoryModel) &&
              static_cast<uint32_t>(Feature::DotProduct) == static_cast<uint32_t>(KernelFeature::DotProduct) &&
              static_cast<uint32_t>(Feature::Push16) == static_cast<uint32_t>(KernelFeature::Push16));

PipelineKey keyOf(const Dispatch& dispatch) {
  PipelineKey key{dispatch.kernel, {}};
  for (const Specialization& s : dispatch.specialization) key.second.insert(key.second.end(), {s.id, s.value});
  key.second.insert(key.second.end(), dispatch.fixed.begin(), dispatch.fixed.end());
  return key;
}

}  // namespace

Result<std::unique_ptr<PipelineCache>> PipelineCache::create(Device& device, std::string path) {
  std::vector<char> data;
  if (!path.empty()) {
    auto read = readCacheFile(path);
    if (read)
      data = std::move(*read);
    else
      device.warn(read.error().text);
  }
  std::unique_ptr<PipelineCache> cache(new PipelineCache(device, std::move(path)));
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, data.size(), data.data()};
  const auto make = [&] {
    return vulkan::create(device.handles().device, info, device.vk().vkCreatePipelineCache,
                          device.vk().vkDestroyPipelineCache);
  };
  auto made = make();
  if (!made && !data.empty()) {
    device.warn(cat("The pipeline cache ", cache->path_, " is not used: ", made.error().text));
    info.initialDataSize = 0;
    made = make();
  }
  if (!made) return made.error();
  cache->cache_ = std::move(*made);
  return cache;
}

PipelineCache::~PipelineCache() {
  try {
    if (const Status saved = save(); !saved) device_.warn(saved.error().text);
  } catch (...) {
    // There is not enough memory for the cache, and none for a message about it.
  }
}

Status PipelineCache::save() const {
  if (path_.empty() || !cache_ || device_.lost()) return {};
  const auto& get = device_.vk().vkGetPipelineCacheData;
  const VkDevice handle = device_.handles().device;
  size_t size = 0;
  Outcome outcome = get(handle, cache_.get(), &size, nullptr);
  std::vector<char> data(outcome ? size : 0);
  if (outcome) outcome = get(handle, cache_.get(), &size, data.data());
  if (!outcome) return cacheNotWritten(path_, outcome.error().text);
  data.resize(std::min(size, data.size()));
  if (data.size() > kMaxPipelineFileBytes) data.clear();
  return writeCacheFile(path_, data);
}

Result<SharedPipeline> PipelineCache::get(const Dispatch& dispatch) {
  const PipelineKey key = keyOf(dispatch);
  const auto use = [&](Entry& entry) {
    entry.used = ++uses_;
    return entry.pipeline;
  };
  {
    std::lock_guard lock(mutex_);
    if (const auto found = pipelines_.find(key); found != pipelines_.end()) return use(found->second);
  }
  auto built = build(dispatch);
  if (!built) return built.error();
  auto pipeline = std::make_shared<const Handle<VkPipeline>>(std::move(*built));
  // Another thread may have compiled the same pipeline meanwhile. The first one in the map is kept.
  std::lock_guard lock(mutex_);
  if (pipelines_.size() >= kMaxPipelines) dropUnused();
  return use(pipelines_.try_emplace(key, Entry{std::move(pipeline)}).first->second);
}

// Frees an eighth of the capacity at a time.
void PipelineCache::dropUnused() {
  std::vector<std::pair<uint64_t, const PipelineKey*>> unused;
  for (const auto& [key, entry] : pipelines_)
    if (entry.pipeline.use_count() == 1) unused.emplace_back(entry.used, &key);
  std::ranges::sort(unused);
  unused.resize(std::min(unused.size(), kMaxPipelines / 8));
  for (const auto& [used, key] : unused) pipelines_.erase(*key);
}

Result<Handle<VkPipeline>> PipelineCache::build(const Dispatch& dispatch) const {
  const KernelInfo* kernel = findKernel(dispatch.kernel);
  if (!kernel) return Error{ErrorCode::Internal, "A dispatch names a kernel that is not in the kernel table."};
  TRY(checkDispatch(dispatch,
                    {kernel->bindingCount, kernel->readBindings, kernel->writtenBindings, kernel->pushWords,
                     kernel->workgroupSize[0], kernel->features},
                    device_.caps()));

  const auto& vk = device_.vk();
  const VkDevice handle = device_.handles().device;
  auto replacement = readReplacement(*kernel, device_.options().kernels, device_.caps());
  TRY(replacement);
  std::vector<uint32_t> spirv = replacement->empty() ? unpackSpirv(*kernel) : std::move(*replacement);
  if (device_.roundsHalves()) spirv = withRoundedHalves(spirv);
  if (device_.isProcessor() || !dispatch.fixed.empty() || kernel->pruned)
    spirv = specialize(spirv, dispatch.specialization, dispatch.fixed, device_.options().unroll);
  const VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                            spirv.size() * sizeof(uint32_t), spirv.data()};
  VkShaderModule made = VK_NULL_HANDLE;
  if (const Outcome outcome = vk.vkCreateShaderModule(handle, &moduleInfo, nullptr, &made); !outcome)
    return outcome.error(cat(" of ", kernel->name));
  const Handle<VkShaderModule> module(handle, made, vk.vkDestroyShaderModule);

  std::vector<VkSpecializationMapEntry> entries;
  std::vector<uint32_t> values;
  for (const auto& s : dispatch.specialization) {
    entries.push_back({s.id, static_cast<uint32_t>(values.size() * 4), 4});
    values.push_back(s.value);
  }
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(), values.size() * 4,
                                            values.data()};
  // Matrices must be shared among as many invocations as the plan assumed for a subgroup.
  const bool subgroups = has(kernel->features, KernelFeature::CooperativeMatrix);
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroupSize{};
  subgroupSize.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroupSize.requiredSubgroupSize = device_.caps().subgroupSize;
  const VkPipelineShaderStageCreateFlags stageFlags =
      subgroups ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0;
  const VkComputePipelineCreateInfo info{
      VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      nullptr,
      0,
      {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, subgroups ? &subgroupSize : nullptr, stageFlags,
       VK_SHADER_STAGE_COMPUTE_BIT, module.get(), "main", &specialization},
      device_.layouts().pipeline(kernel->bindingCount),
      VK_NULL_HANDLE,
      -1};
  VkPipeline pipeline = VK_NULL_HANDLE;
  if (const Outcome outcome = vk.vkCreateComputePipelines(handle, cache_.get(), 1, &info, nullptr, &pipeline); !outcome)
    return outcome.error(cat(" of ", kernel->name));
  return Handle<VkPipeline>(handle, pipeline, vk.vkDestroyPipeline);
}

void PipelineCache::compile(std::span<const Dispatch> dispatches) {
  const auto isKnown = [&](const PipelineKey& key) {
    std::lock_guard lock(mutex_);
    return pipelines_.contains(key);
  };
  compileInParallel(dispatches, keyOf, isKnown, [&](const Dispatch& dispatch) { static_cast<void>(get(dispatch)); });
}

Result<std::unique_ptr<Executable>> Device::prepare(std::span<const Dispatch> dispatches,
                                                    std::span<const uint32_t> parameters) {
  if (lost_) return Error{ErrorCode::DeviceLost, "The device is removed."};
  pipelines_->compile(dispatches);
  std::vector<PlanExecutable::Item> items;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    auto pipeline = pipelines_->get(dispatch);
    if (!pipeline) return pipeline.error();
    items.push_back({*pipeline, static_cast<uint32_t>(dispatch.buffers.size()), Plan::sharesDescriptors(dispatches, i),
                     dispatch.parameterOffset, dispatch.push, dispatch.groups, dispatch.barrierBefore,
                     kernelName(dispatch.kernel), markerOf(dispatch)});
  }
  ParameterMemory::Block block;
  VkDescriptorSet set = VK_NULL_HANDLE;
  if (!items.empty()) {
    auto stored = parameterMemory_->store(parameters);
    if (!stored) return stored.error();
    block = std::move(*stored);
    auto shared = layouts_->parameterSet(block.buffer().handle());
    if (!shared) return shared.error();
    set = *shared;
    for (auto& item : items) item.parameterOffset += static_cast<uint32_t>(block.offset());
  }
  return std::unique_ptr<Executable>(std::make_unique<PlanExecutable>(std::move(items), std::move(block), set));
}

}  // namespace dimple::vulkan
