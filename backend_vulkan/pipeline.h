// Compute pipelines by kernel and specialization, kept for the device's life and, in a file, beyond it.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend_vulkan/handle.h"
#include "backend_vulkan/memory.h"
#include "core/backend.h"
#include "core/plan/plan.h"

namespace dimple::vulkan {

class Device;

// A kernel with the ids and values of its constants, and the words of its parameter block that it is made for.
using PipelineKey = std::pair<KernelId, std::vector<uint32_t>>;

class PipelineCache {
 public:
  static Result<std::unique_ptr<PipelineCache>> create(Device& device, std::string path);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // The pipeline that a dispatch names. Refuses a kernel whose features the device lacks, by name.
  Result<VkPipeline> get(const Dispatch& dispatch);
  // Compiles what the dispatches name, on all cores. Refusals are left to `get`.
  void compile(std::span<const Dispatch> dispatches);

 private:
  PipelineCache(Device& device, std::string path) : device_(device), path_(std::move(path)) {}
  // Into the file. Losing its contents costs time, nothing else.
  Status save() const;
  Result<Handle<VkPipeline>> build(const Dispatch& dispatch) const;

  Device& device_;
  const std::string path_;
  Handle<VkPipelineCache> cache_;
  std::mutex mutex_;
  std::map<PipelineKey, Handle<VkPipeline>> pipelines_;
};

// A plan's dispatches with what recording them takes.
class PlanExecutable final : public Executable {
 public:
  struct Item {
    VkPipeline pipeline = VK_NULL_HANDLE;
    uint32_t bufferCount = 0;
    bool sharesDescriptors = false;  // with the one before
    uint32_t parameterOffset = 0;    // into the parameter set's buffer
    std::vector<uint32_t> push;
    std::array<uint32_t, 3> groups{};
    bool barrierBefore = false;
    std::string_view kernel;  // its name
    std::string marker;       // for debuggers
  };

  PlanExecutable(std::vector<Item> items, ParameterMemory::Block block, VkDescriptorSet set)
      : items_(std::move(items)), block_(std::move(block)), parameterSet_(set) {}

  std::span<const Item> dispatches() const { return items_; }
  VkDescriptorSet parameterSet() const { return parameterSet_; }

 private:
  const std::vector<Item> items_;
  const ParameterMemory::Block block_;
  const VkDescriptorSet parameterSet_;
};

}  // namespace dimple::vulkan
