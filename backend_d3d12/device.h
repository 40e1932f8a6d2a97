// A Direct3D 12 device as Dimple uses it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "backend_d3d12/d3d12.h"
#include "backend_d3d12/memory.h"
#include "core/backend.h"
#include "core/options.h"
#include "kernels/kernel_code.h"

namespace dimple::d3d12 {

class DescriptorLayouts;
class PipelineCache;
class Profiler;

class Device final : public Backend {
 public:
  // Refuses a device without shader model 6.0, by name. `device` is referenced.
  static Result<std::unique_ptr<Device>> create(ID3D12Device* device, const Options& options);
  ~Device() override;

  const Caps& caps() const override { return caps_; }
  // Descriptor tables are read at execution.
  bool supportsVolatileDescriptors() const override { return true; }
  Result<std::unique_ptr<Executable>> prepare(std::span<const Dispatch> dispatches,
                                              std::span<const uint32_t> parameters) override;
  Result<std::unique_ptr<DescriptorSets>> describe(const Executable& executable, const DescriptorRange& range) override;
  void record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
              std::string_view label) override;
  void setLost() override { lost_ = true; }

  ID3D12Device& handle() const { return *device_.Get(); }
  uint32_t descriptorIncrement() const { return descriptorIncrement_; }
  DescriptorLayouts& layouts() { return *layouts_; }
  ParameterMemory& parameterMemory() { return *parameterMemory_; }
  PipelineCache& pipelines() { return *pipelines_; }
  bool lost() const { return lost_; }
  // Long modules are for GPUs that have 64-bit integers. On a processor tests ask for them with estimates=0, which
  // gives it the kernels of GPUs, and unroll=1.
  ModuleChoice moduleChoice() const { return moduleChoice_; }

  // Waits for what the queue may still use, where it is Dimple's own. False if it cannot be found out whether it is
  // done: what may be in use has to be left alone.
  bool settle() const { return !settle_ || settle_(); }
  void setSettle(std::function<bool()> settle) { settle_ = std::move(settle); }

  // Times each dispatch recorded from now on for this queue, always the same one; null: none. Lists that were recorded
  // before keep their queries.
  Status setProfiling(ID3D12CommandQueue* queue);
  // Null when profiling is off.
  Profiler* profiler() { return profiling_ ? profiler_.get() : nullptr; }

 private:
  explicit Device(ID3D12Device* device);
  Status readCaps();
  // What the device can do with 16-bit types. Asks it by a dispatch, if it has them.
  Status readHalves(const Options& options);

  const ComPtr<ID3D12Device> device_;
  const uint32_t descriptorIncrement_;
  Caps caps_;
  ModuleChoice moduleChoice_;
  std::atomic<bool> lost_ = false;
  std::function<bool()> settle_;
  std::unique_ptr<DescriptorLayouts> layouts_;
  std::unique_ptr<ParameterMemory> parameterMemory_;
  std::unique_ptr<PipelineCache> pipelines_;
  std::unique_ptr<Profiler> profiler_;
  std::atomic<bool> profiling_ = false;
};

}  // namespace dimple::d3d12
