#include "backend_vulkan/pipeline.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/device.h"
#include "backend_vulkan/fault.h"
#include "backend_vulkan/replacement.h"
#include "backend_vulkan/specialize.h"
#include "core/checked.h"
#include "core/plan/plan.h"
#include "core/support/parallel.h"
#include "core/text.h"
#include "kernels/kernel_table.h"

namespace dimple::vulkan {
namespace {

static_assert(static_cast<uint32_t>(Feature::Storage16) == static_cast<uint32_t>(KernelFeature::Storage16) &&
              static_cast<uint32_t>(Feature::SubgroupShuffle) ==
                  static_cast<uint32_t>(KernelFeature::SubgroupShuffle) &&
              static_cast<uint32_t>(Feature::CooperativeMatrix) ==
                  static_cast<uint32_t>(KernelFeature::CooperativeMatrix) &&
              static_cast<uint32_t>(Feature::MemoryModel) == static_cast<uint32_t>(KernelFeature::MemoryModel) &&
              static_cast<uint32_t>(Feature::Push16) == static_cast<uint32_t>(KernelFeature::Push16));

// A cache file is this header and the driver's data. The driver's own header tells devices apart but not damage.
struct FileHeader {
  std::array<char, 8> magic{'D', 'I', 'M', 'P', 'L', 'E', 'P', '1'};
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

uint64_t hashOf(std::span<const char> data) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : data) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

// The driver's data in a cache file; empty if there is none or it is damaged.
std::vector<char> readCacheFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  FileHeader header;
  const FileHeader expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != expected.magic) return {};
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size != sizeof header + header.bytes) return {};
  std::vector<char> data(header.bytes);
  if (!file.read(data.data(), static_cast<std::streamsize>(data.size())) || hashOf(data) != header.hash) return {};
  return data;
}

PipelineKey keyOf(const Dispatch& dispatch) {
  PipelineKey key{dispatch.kernel, {}};
  for (const Specialization& s : dispatch.specialization) key.second.insert(key.second.end(), {s.id, s.value});
  return key;
}

}  // namespace

Result<std::unique_ptr<PipelineCache>> PipelineCache::create(Device& device, std::string path) {
  std::vector<char> data;
  if (!path.empty()) data = readCacheFile(path);
  std::unique_ptr<PipelineCache> cache(new PipelineCache(device, std::move(path)));
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0, data.size(), data.data()};
  VkResult result = device.vk().vkCreatePipelineCache(device.handles().device, &info, nullptr, &cache->cache_);
  if (result != VK_SUCCESS && !data.empty()) {
    info.initialDataSize = 0;
    result = device.vk().vkCreatePipelineCache(device.handles().device, &info, nullptr, &cache->cache_);
  }
  if (result != VK_SUCCESS) return fault("vkCreatePipelineCache", result);
  return cache;
}

PipelineCache::~PipelineCache() {
  try {
    save();
  } catch (const std::exception&) {
    // Losing the cache costs time, nothing else.
  }
  for (const auto& [key, pipeline] : pipelines_)
    device_.vk().vkDestroyPipeline(device_.handles().device, pipeline, nullptr);
  device_.vk().vkDestroyPipelineCache(device_.handles().device, cache_, nullptr);
}

// Every failure is ignored. The rename keeps a reader of another process
// from seeing half a file.
void PipelineCache::save() const {
  if (path_.empty() || !cache_) return;
  size_t size = 0;
  if (device_.vk().vkGetPipelineCacheData(device_.handles().device, cache_, &size, nullptr) != VK_SUCCESS) return;
  std::vector<char> data(size);
  if (device_.vk().vkGetPipelineCacheData(device_.handles().device, cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  FileHeader header;
  header.bytes = data.size();
  header.hash = hashOf(data);
  const std::string temporary = path_ + ".new";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(data.data(), static_cast<std::streamsize>(data.size()));
    if (!file.flush()) return;
  }
  std::error_code error;
  std::filesystem::rename(temporary, path_, error);
  if (error) std::filesystem::remove(temporary, error);
}

Result<VkPipeline> PipelineCache::get(const Dispatch& dispatch) {
  const PipelineKey key = keyOf(dispatch);
  {
    std::lock_guard lock(mutex_);
    if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second;
  }
  const KernelInfo* kernel = findKernel(dispatch.kernel);
  if (!kernel) return Error{ErrorCode::Internal, "A dispatch names a kernel that is not in the kernel table."};
  TRY(checkDispatch(dispatch,
                    {kernel->bindingCount, kernel->readBindings, kernel->writtenBindings, kernel->pushWords,
                     kernel->workgroupSize[0], kernel->features},
                    device_.caps()));

  const auto& vk = device_.vk();
  const auto replacement = readReplacement(*kernel, device_.options().kernels, device_.caps());
  TRY(replacement);
  std::vector<uint32_t> specialized;
  std::span<const uint32_t> spirv = replacement->empty() ? kernel->spirv : *replacement;
  // Compilers of GPUs need no help, and make other, at times slower code of what is left.
  if (device_.isProcessor()) spirv = specialized = specialize(spirv, dispatch.specialization, device_.options().unroll);
  const VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, spirv.size_bytes(),
                                            spirv.data()};
  VkShaderModule module = VK_NULL_HANDLE;
  if (const VkResult r = vk.vkCreateShaderModule(device_.handles().device, &moduleInfo, nullptr, &module))
    return fault(cat("vkCreateShaderModule of ", kernel->name), r);

  std::vector<VkSpecializationMapEntry> entries;
  std::vector<uint32_t> values;
  for (const auto& s : dispatch.specialization) {
    entries.push_back({s.id, static_cast<uint32_t>(values.size() * 4), 4});
    values.push_back(s.value);
  }
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(), values.size() * 4,
                                            values.data()};
  // What matrices are shared among has to be what the plan took for a subgroup.
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
       VK_SHADER_STAGE_COMPUTE_BIT, module, "main", &specialization},
      device_.layouts().pipeline(kernel->bindingCount),
      VK_NULL_HANDLE,
      -1};
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = vk.vkCreateComputePipelines(device_.handles().device, cache_, 1, &info, nullptr, &pipeline);
  vk.vkDestroyShaderModule(device_.handles().device, module, nullptr);
  if (result != VK_SUCCESS) return fault(cat("vkCreateComputePipelines of ", kernel->name), result);

  // Another thread may have compiled the same meanwhile: the first one in the map is kept.
  std::lock_guard lock(mutex_);
  const auto [entry, inserted] = pipelines_.emplace(key, pipeline);
  if (!inserted) vk.vkDestroyPipeline(device_.handles().device, pipeline, nullptr);
  return entry->second;
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
  for (const Dispatch& dispatch : dispatches) {
    auto pipeline = pipelines_->get(dispatch);
    if (!pipeline) return pipeline.error();
    items.push_back({*pipeline, static_cast<uint32_t>(dispatch.buffers.size()), dispatch.parameterOffset, dispatch.push,
                     dispatch.groups, dispatch.barrierBefore, kernelName(dispatch.kernel), markerOf(dispatch)});
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
