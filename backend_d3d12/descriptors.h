// Root signatures, and the descriptors of a binding table in the caller's heap.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "backend_d3d12/d3d12.h"
#include "backend_d3d12/memory.h"
#include "core/backend.h"

namespace dimple::d3d12 {

class Device;
class PlanExecutable;

// Most storage buffers a kernel may bind.
constexpr uint32_t kMaxBindings = 12;
// Most specialization constants of a kernel.
constexpr uint32_t kMaxSpecializations = 8;

// The parameters of every root signature; what changes most comes first.
enum RootParameter : UINT { kPushWords, kSpecialization, kParameters, kBuffers };

// Root signatures by number of storage buffers. Every buffer is an unordered access view in a table, since callers
// leave theirs in that state, and tables are read at execution.
class DescriptorLayouts {
 public:
  static Result<std::unique_ptr<DescriptorLayouts>> create(const Device& device);

  ID3D12RootSignature* rootSignature(uint32_t bufferCount) const { return signatures_[bufferCount].Get(); }

 private:
  std::array<ComPtr<ID3D12RootSignature>, kMaxBindings + 1> signatures_;
};

// A run of descriptors a dispatch, one run after another from the start of the caller's range.
class HeapSets final : public DescriptorSets {
 public:
  HeapSets(const Device& device, const PlanExecutable& executable, const DescriptorRange& range);

  Status write(std::span<const DescriptorWrite> writes) override;
  D3D12_GPU_DESCRIPTOR_HANDLE table(size_t dispatch) const;
  // Copies into DEFAULT memory what UPLOAD heaps hold; the dispatches bind the copies.
  void recordCopies(ID3D12GraphicsCommandList& list) const;

 private:
  Status write(const DescriptorWrite& write);

  struct Copy {
    size_t descriptor;
    ComPtr<ID3D12Resource> source;  // the caller may release it once it is bound
    uint64_t offset;
    uint64_t bytes;
    std::shared_ptr<Buffer> target;
  };

  const Device& device_;
  const PlanExecutable& executable_;
  const uint64_t cpuStart_, gpuStart_;
  std::vector<size_t> first_;  // descriptors before each dispatch
  std::vector<Copy> copies_;
};

}  // namespace dimple::d3d12
