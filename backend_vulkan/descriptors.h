// Descriptor set layouts, and heaps that stand for D3D12's: a range of a heap holds the sets of a binding table.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend_vulkan/handle.h"
#include "core/backend.h"

namespace dimple::vulkan {

class Device;
class PlanExecutable;

// Most storage buffers a kernel may bind; maxPerStageDescriptorStorageBuffers is at least 4, and 16 or more on every
// device with update-after-bind.
constexpr uint32_t kMaxBindings = 12;

// Layouts by number of storage buffers in set 0, and of the parameter block in set 1. Thread-safe.
class DescriptorLayouts {
 public:
  static Result<std::unique_ptr<DescriptorLayouts>> create(const Device& device);
  DescriptorLayouts(const DescriptorLayouts&) = delete;
  DescriptorLayouts& operator=(const DescriptorLayouts&) = delete;

  VkDescriptorSetLayout buffers(uint32_t count) const { return sets_[count].get(); }
  VkDescriptorSetLayout parameters() const { return parameters_.get(); }
  VkPipelineLayout pipeline(uint32_t bufferCount) const { return pipelines_[bufferCount].get(); }

  // A set that points at one parameter buffer; every executable with parameters there shares it.
  Result<VkDescriptorSet> parameterSet(VkBuffer buffer);

 private:
  explicit DescriptorLayouts(const Device& device) : device_(device) {}
  // What a dispatch with `count` buffers takes.
  Status add(uint32_t count);

  const Device& device_;
  Handle<VkDescriptorSetLayout> parameters_;
  std::array<Handle<VkDescriptorSetLayout>, kMaxBindings + 1> sets_;
  std::array<Handle<VkPipelineLayout>, kMaxBindings + 1> pipelines_;
  std::mutex mutex_;
  std::vector<Handle<VkDescriptorPool>> pools_;
  uint32_t setsInPool_ = 0;
  std::map<VkBuffer, VkDescriptorSet> parameterSets_;
};

// `count` descriptors that binding tables take ranges of. A dispatch with n buffers takes n descriptors, which are one
// descriptor set. The same place and number give the same set again, so that a table that is created anew over a range
// rebinds what was recorded with it. Sets live as long as the heap, which the tables over it keep alive, and what was
// submitted on Dimple's own queue.
class DescriptorHeap : public std::enable_shared_from_this<DescriptorHeap> {
 public:
  DescriptorHeap(Device& device, uint32_t count) : device_(device), count_(count) {}
  ~DescriptorHeap();
  DescriptorHeap(const DescriptorHeap&) = delete;
  DescriptorHeap& operator=(const DescriptorHeap&) = delete;

  uint32_t count() const { return count_; }
  Device& device() { return device_; }
  // The sets of dispatches with these numbers of buffers, one after another from the descriptor `first` on.
  Result<std::vector<VkDescriptorSet>> sets(uint32_t first, std::span<const uint32_t> bufferCounts);

 private:
  struct Place {
    uint32_t first;
    uint32_t bufferCount;
    bool operator==(const Place&) const = default;
  };
  struct HashOfPlace {
    size_t operator()(const Place& place) const {
      return std::hash<uint64_t>()(uint64_t{place.first} << 32 | place.bufferCount);
    }
  };

  // Makes at least one of the sets, from the front, and returns how many.
  Result<size_t> allocate(std::span<const Place> places);

  Device& device_;
  const uint32_t count_;
  std::mutex mutex_;
  std::vector<Handle<VkDescriptorPool>> pools_;
  uint32_t setsInPool_ = 0;
  std::unordered_map<Place, VkDescriptorSet, HashOfPlace> sets_;
};

class HeapSets final : public DescriptorSets {
 public:
  HeapSets(std::shared_ptr<DescriptorHeap> heap, std::vector<VkDescriptorSet> sets)
      : heap_(std::move(heap)), sets_(std::move(sets)) {}
  Status write(std::span<const DescriptorWrite> writes) override;
  VkDescriptorSet set(size_t dispatch) const { return sets_[dispatch]; }

 private:
  const std::shared_ptr<DescriptorHeap> heap_;
  const std::vector<VkDescriptorSet> sets_;
};

}  // namespace dimple::vulkan
