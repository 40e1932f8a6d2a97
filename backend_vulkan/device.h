// A Vulkan device as Dimple uses it: the caller's or one that Dimple opens.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_vulkan/functions.h"
#include "backend_vulkan/memory.h"
#include "core/backend.h"
#include "core/options.h"

namespace dimple::vulkan {

class DescriptorLayouts;
class OpenedDevice;
class PipelineCache;
class Profiler;

// What was enabled on a device, in the terms that Dimple asks about.
struct EnabledFeatures {
  uint32_t features = 0;         // bits of dimple::Feature
  bool updateAfterBind = false;  // storage buffers of a set may change until it executes
  bool hostQueryReset = false;
  bool subgroupSizeControl = false;  // a pipeline can require its subgroups' size, and that they are full
};

// Reads a chain of feature structures as the caller passed it to vkCreateDevice.
EnabledFeatures readFeatures(const VkPhysicalDeviceFeatures2& enabled);

struct DeviceHandles {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physicalDevice = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  uint32_t queueFamily = 0;
};

class Device final : public Backend {
 public:
  // What nothing fails for, in a sentence; called until the device is gone.
  using Warn = std::function<void(const std::string&)>;

  // `pipelineCachePath`: file that keeps compiled pipelines between runs; empty for none. A file that cannot be used is
  // ignored, with a warning. Features that `options` leaves out are not used.
  static Result<std::unique_ptr<Device>> create(const DeviceHandles& handles, const InstanceFunctions& functions,
                                                const EnabledFeatures& enabled, std::string pipelineCachePath,
                                                Options options, Warn warn = {});
  ~Device() override;

  const Caps& caps() const override { return caps_; }
  // The driver executes kernels on the host's CPU, as llvmpipe does.
  bool isProcessor() const { return isProcessor_; }
  // Its instructions convert to FLOAT16 as kernels ask for it.
  bool roundsHalves() const { return roundsHalves_; }
  // Before anything is planned: puts a barrier between all dispatches that bind bytes of which one writes some.
  void waitForRanges() { caps_.barriersByRows = false; }
  // Before anything is planned: a dispatch has seen that Caps::matrixPlaces holds.
  void trustPlaces() { caps_.knownPlaces = true; }
  bool supportsVolatileDescriptors() const override { return enabled_.updateAfterBind; }
  Result<std::unique_ptr<Executable>> prepare(std::span<const Dispatch> dispatches,
                                              std::span<const uint32_t> parameters) override;
  Result<std::unique_ptr<DescriptorSets>> describe(const Executable& executable, const DescriptorRange& range) override;
  void record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
              std::string_view label) override;
  void setLost() override { lost_ = true; }

  const DeviceHandles& handles() const { return handles_; }
  const InstanceFunctions& instanceFunctions() const { return functions_; }
  const DeviceFunctions& vk() const { return vk_; }
  const EnabledFeatures& enabled() const { return enabled_; }
  const Options& options() const { return options_; }
  DescriptorLayouts& layouts() { return *layouts_; }
  ParameterMemory& parameterMemory() { return *parameterMemory_; }
  PipelineCache& pipelines() { return *pipelines_; }
  bool lost() const { return lost_; }
  void warn(const std::string& text) const {
    if (warn_) warn_(text);
  }

  // On a queue of Dimple's own: waits for what was submitted there. Whether what that used may be freed; otherwise it
  // has to be left alone for good.
  bool settle() const { return !settle_ || settle_(); }
  void setSettle(std::function<bool()> settle) { settle_ = std::move(settle); }

  // Whose queue is used; null: the caller submits what is recorded.
  OpenedDevice* queue() const { return queue_; }
  void setQueue(OpenedDevice* queue) { queue_ = queue; }

  // Times each dispatch recorded from now on; null when profiling is off. Lists that were recorded before keep their
  // queries.
  Status setProfiling(bool enabled);
  Profiler* profiler() { return profiling_ ? profiler_.get() : nullptr; }

  // Index of a memory type with all of `flags`, or no value.
  std::optional<uint32_t> memoryType(uint32_t typeBits, VkMemoryPropertyFlags flags) const;

 private:
  Device(const DeviceHandles& handles, const InstanceFunctions& functions, const EnabledFeatures& enabled,
         Options options, Warn warn);
  // What subgroups compute together, if all that it takes is enabled.
  Result<std::vector<VkCooperativeMatrixPropertiesKHR>> offeredMatrices();
  Status readMatrices();

  DeviceHandles handles_;
  InstanceFunctions functions_;
  DeviceFunctions vk_;
  EnabledFeatures enabled_;
  const Options options_;
  const Warn warn_;
  std::function<bool()> settle_;
  OpenedDevice* queue_ = nullptr;
  VkPhysicalDeviceMemoryProperties memory_{};
  Caps caps_;
  bool isProcessor_ = false;
  bool roundsHalves_ = false;
  std::atomic<bool> lost_ = false;
  std::unique_ptr<DescriptorLayouts> layouts_;
  std::unique_ptr<ParameterMemory> parameterMemory_;
  std::unique_ptr<PipelineCache> pipelines_;
  std::unique_ptr<Profiler> profiler_;
  std::atomic<bool> profiling_ = false;
};

}  // namespace dimple::vulkan
