// Records an executable's dispatches into the caller's command list.
#include "backend_d3d12/descriptors.h"
#include "backend_d3d12/device.h"
#include "backend_d3d12/pipeline.h"
#include "backend_d3d12/profiler.h"

namespace dimple::d3d12 {
namespace {

void recordBarrier(ID3D12GraphicsCommandList& list) {
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list.ResourceBarrier(1, &barrier);
}

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

}  // namespace

void Device::record(uint64_t commandList, const Executable& executable, const DescriptorSets& sets,
                    std::string_view label) {
  if (lost_) return;
  auto& list = *reinterpret_cast<ID3D12GraphicsCommandList*>(commandList);
  const auto& plan = static_cast<const PlanExecutable&>(executable);
  const auto& heapSets = static_cast<const HeapSets&>(sets);
  const Label outer(list, std::string(label));
  heapSets.recordCopies(list);
  const auto setConstants = [&](RootParameter parameter, const std::vector<uint32_t>& words) {
    if (!words.empty()) list.SetComputeRoot32BitConstants(parameter, static_cast<UINT>(words.size()), words.data(), 0);
  };
  Profiler* const timer = profiler();
  for (size_t i = 0; i < plan.dispatches().size(); ++i) {
    const auto& item = plan.dispatches()[i];
    const Label inner(list, item.marker);
    if (item.barrierBefore) recordBarrier(list);
    list.SetComputeRootSignature(layouts_->rootSignature(item.bufferCount));
    list.SetPipelineState(item.pipeline.Get());
    setConstants(kPushWords, item.push);
    setConstants(kSpecialization, item.specialization);
    list.SetComputeRootConstantBufferView(kParameters, item.parameters);
    if (item.bufferCount != 0) list.SetComputeRootDescriptorTable(kBuffers, heapSets.table(i));
    if (timer) timer->begin(list, item.kernel);
    list.Dispatch(item.groups[0], item.groups[1], item.groups[2]);
    if (timer) timer->end(list);
  }
}

}  // namespace dimple::d3d12
