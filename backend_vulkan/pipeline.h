// Compute pipelines by kernel and specialization, kept as long as there is room and, in a file, beyond the device's
// life.
#pragma once

#include <map>
#include <memory>
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
using SharedPipeline = std::shared_ptr<const Handle<VkPipeline>>;

// Programs of chains are as many as a process thinks of. Beyond so many pipelines, those that nothing uses go, the
// longest unused ones first; a file does not grow beyond so many bytes, but begins anew. What the driver's own cache
// keeps in memory is the driver's to bound.
constexpr size_t kMaxPipelines = 4096;
constexpr size_t kMaxPipelineFileBytes = size_t{256} << 20;

class PipelineCache {
 public:
  static Result<std::unique_ptr<PipelineCache>> create(Device& device, std::string path);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // The pipeline that a dispatch names. Refuses a kernel whose features the device lacks, by name.
  Result<SharedPipeline> get(const Dispatch& dispatch);
  // Compiles what the dispatches name, on all cores. Refusals are left to `get`.
  void compile(std::span<const Dispatch> dispatches);

 private:
  PipelineCache(Device& device, std::string path) : device_(device), path_(std::move(path)) {}
  // Into the file. Losing its contents costs time, nothing else.
  Status save() const;
  Result<Handle<VkPipeline>> build(const Dispatch& dispatch) const;
  void dropUnused();

  Device& device_;
  const std::string path_;
  Handle<VkPipelineCache> cache_;
  std::mutex mutex_;
  struct Entry {
    SharedPipeline pipeline;
    uint64_t used = 0;  // when, in uses_
  };
  std::map<PipelineKey, Entry> pipelines_;
  uint64_t uses_ = 0;
};

// A plan's dispatches with what recording them takes.
class PlanExecutable final : public Executable {
 public:
  struct Item {
    SharedPipeline pipeline;
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
