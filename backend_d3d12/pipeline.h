// Compute pipelines by kernel and module, kept for the device's life. A module serves all values of the constants that
// it does not fix: kernels read them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend_d3d12/descriptors.h"
#include "backend_d3d12/memory.h"
#include "core/backend.h"
#include "core/plan/plan.h"
#include "kernels/kernel_table.h"

namespace dimple::d3d12 {

class Device;

class PipelineCache {
 public:
  explicit PipelineCache(Device& device) : device_(device) {}
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  // The pipeline that a dispatch names. Refuses a kernel whose features the device lacks, by name.
  Result<ComPtr<ID3D12PipelineState>> get(const Dispatch& dispatch);
  // Compiles what the dispatches name, on all cores. Refusals are left to `get`.
  void compile(std::span<const Dispatch> dispatches);

 private:
  using Key = std::pair<KernelId, ptrdiff_t>;  // a kernel, and which of its modules

  Key keyOf(const Dispatch& dispatch) const;
  const KernelModule& moduleOf(const KernelInfo& kernel, const Dispatch& dispatch) const;

  Device& device_;
  std::mutex mutex_;
  std::map<Key, ComPtr<ID3D12PipelineState>> pipelines_;
};

// A plan's dispatches with what recording them takes.
class PlanExecutable final : public Executable {
 public:
  struct Item {
    ComPtr<ID3D12PipelineState> pipeline;
    uint32_t bufferCount = 0;
    bool sharesDescriptors = false;  // with the one before
    D3D12_GPU_VIRTUAL_ADDRESS parameters = 0;
    std::vector<uint32_t> push;
    std::vector<uint32_t> specialization;  // in the order of the kernel's constants
    std::array<uint32_t, 3> groups{};
    bool barrierBefore = false;
    std::string_view kernel;  // its name
    std::string marker;       // for debuggers
  };

  PlanExecutable(const Device& device, std::vector<Item> items, ParameterMemory::Block block)
      : device_(device), items_(std::move(items)), used_(new Used{std::move(block), {}}) {}
  ~PlanExecutable() override;

  std::span<const Item> dispatches() const { return items_; }
  // Keeps a buffer until the executable goes, which is after all work recorded with it.
  void keep(std::shared_ptr<Buffer> buffer) const;

 private:
  // What the device reads and writes.
  struct Used {
    ParameterMemory::Block block;
    std::vector<std::shared_ptr<Buffer>> kept;
  };

  const Device& device_;
  const std::vector<Item> items_;
  mutable std::mutex mutex_;
  std::unique_ptr<Used> used_;
};

}  // namespace dimple::d3d12
