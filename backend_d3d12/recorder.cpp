// Records an executable's dispatches into the caller's command list.
#include "backend_d3d12/descriptors.h"
#include "backend_d3d12/device.h"
#include "backend_d3d12/pipeline.h"
#include "backend_d3d12/profiler.h"

namespace dimple::d3d12 {
namespace {

// Between dispatches. The barrier for unordered access views that all devices have lets drivers wait for all shaders
// and all that they may read.
class Barriers {
 public:
  Barriers(ID3D12GraphicsCommandList& list, bool ofCompute) : list_(list) {
    if (ofCompute) list.QueryInterface(IID_PPV_ARGS(&newer_));
  }

  void record() {
    if (newer_) {
      constexpr D3D12_GLOBAL_BARRIER kCompute{D3D12_BARRIER_SYNC_COMPUTE_SHADING, D3D12_BARRIER_SYNC_COMPUTE_SHADING,
                                              D3D12_BARRIER_ACCESS_UNORDERED_ACCESS,
                                              D3D12_BARRIER_ACCESS_UNORDERED_ACCESS};
      D3D12_BARRIER_GROUP group{};
      group.Type = D3D12_BARRIER_TYPE_GLOBAL;
      group.NumBarriers = 1;
      group.pGlobalBarriers = &kCompute;
      newer_->Barrier(1, &group);
      return;
    }
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    list_.ResourceBarrier(1, &barrier);
  }

 private:
  ID3D12GraphicsCommandList& list_;
  ComPtr<ID3D12GraphicsCommandList7> newer_;
};

class Label {
 public:
  Label(ID3D12GraphicsCommandList& list, const std::string& name) : list_(list) {
    constexpr UINT kAnsi = 1;  // PIX_EVENT_ANSI_VERSION
    list_.BeginEvent(kAnsi, name.c_str(), static_cast<UINT>(name.size() + 1));
  }
  ~Label() { list_.EndEvent(); }
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  ID3D12GraphicsCommandList& list_;
};

// Sets what a dispatch needs and the one before has not set: drivers make work of all that is set, even of the same
// values. Another root signature takes away all arguments.
class Arguments {
 public:
  explicit Arguments(ID3D12GraphicsCommandList& list) : list_(list) {}

  void set(const PlanExecutable::Item& item, ID3D12RootSignature* signature, D3D12_GPU_DESCRIPTOR_HANDLE table) {
    if (signature != signature_) {
      list_.SetComputeRootSignature(signature);
      before_ = nullptr;
    }
    if (item.pipeline.Get() != pipeline_) list_.SetPipelineState(item.pipeline.Get());
    if (!before_ || item.push != before_->push) setConstants(kPushWords, item.push);
    if (!before_ || item.specialization != before_->specialization) setConstants(kSpecialization, item.specialization);
    if (!before_ || item.parameters != before_->parameters)
      list_.SetComputeRootConstantBufferView(kParameters, item.parameters);
    if (item.bufferCount != 0 && (!before_ || table.ptr != table_))
      list_.SetComputeRootDescriptorTable(kBuffers, table);
    signature_ = signature;
    pipeline_ = item.pipeline.Get();
    table_ = table.ptr;
    before_ = &item;
  }

 private:
  void setConstants(RootParameter parameter, const std::vector<uint32_t>& words) {
    if (!words.empty()) list_.SetComputeRoot32BitConstants(parameter, static_cast<UINT>(words.size()), words.data(), 0);
  }

  ID3D12GraphicsCommandList& list_;
  ID3D12RootSignature* signature_ = nullptr;
  ID3D12PipelineState* pipeline_ = nullptr;
  UINT64 table_ = 0;
  const PlanExecutable::Item* before_ = nullptr;  // of the same root signature
};

}  // namespace

void Device::record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
                    std::string_view label) {
  if (lost_) return;
  auto& list = *reinterpret_cast<ID3D12GraphicsCommandList*>(commandList);
  const auto& plan = static_cast<const PlanExecutable&>(executable);
  const auto& heapSets = static_cast<const HeapSets&>(sets);
  const Label outer(list, std::string(label));
  heapSets.recordCopies(list);
  Arguments arguments(list);
  Barriers barriers(list, hasComputeBarriers_);
  for (size_t i = 0; i < plan.dispatches().size(); ++i) {
    const auto& item = plan.dispatches()[i];
    const Label inner(list, item.marker);
    if (item.barrierBefore) barriers.record();
    arguments.set(item, layouts_->rootSignature(item.bufferCount), heapSets.table(i));
    if (profiler_) profiler_->begin(list, item.kernel);
    list.Dispatch(item.groups[0], item.groups[1], item.groups[2]);
    if (profiler_) profiler_->end(list);
  }
}

}  // namespace dimple::d3d12
