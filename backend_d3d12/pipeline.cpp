#include "backend_d3d12/pipeline.h"

#include "backend_d3d12/device.h"
#include "backend_d3d12/fault.h"
#include "core/plan/plan.h"
#include "core/support/parallel.h"
#include "core/text.h"
#include "kernels/kernel_code.h"

namespace dimple::d3d12 {
namespace {

// The values of a kernel's constants in the order in which it reads them; 0 for one that the dispatch leaves out.
std::vector<uint32_t> specializationWords(const KernelInfo& kernel, const Dispatch& dispatch) {
  std::vector<uint32_t> words;
  for (const KernelSpec& spec : kernel.specs) {
    words.push_back(0);
    for (const Specialization& given : dispatch.specialization)
      if (given.id == spec.id) words.back() = given.value;
  }
  return words;
}

}  // namespace

const KernelModule& PipelineCache::moduleOf(const KernelInfo& kernel, const Dispatch& dispatch) const {
  return moduleFor(kernel, dispatch.specialization, device_.moduleChoice());
}

PipelineCache::Key PipelineCache::keyOf(const Dispatch& dispatch) const {
  const KernelInfo* kernel = findKernel(dispatch.kernel);
  if (!kernel || kernel->modules.empty()) return {dispatch.kernel, 0};
  return {dispatch.kernel, &moduleOf(*kernel, dispatch) - kernel->modules.data()};
}

Result<ComPtr<ID3D12PipelineState>> PipelineCache::get(const Dispatch& dispatch) {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = pipelines_.find(keyOf(dispatch)); found != pipelines_.end()) return found->second;
  }
  const KernelInfo* kernel = findKernel(dispatch.kernel);
  if (!kernel) return Error{ErrorCode::Internal, "A dispatch names a kernel that is not in the kernel table."};
  TRY(checkDispatch(dispatch,
                    {kernel->bindingCount, kernel->readBindings, kernel->writtenBindings, kernel->pushWords,
                     kernel->workgroupSize[0], kernel->features},
                    device_.caps()));
  if (kernel->modules.empty() || kernel->modules.front().bytes == 0)
    return Error{ErrorCode::Unsupported, cat("Kernel ", kernel->name, " has no DXIL in this build of Dimple.")};

  D3D12_COMPUTE_PIPELINE_STATE_DESC desc{};
  desc.pRootSignature = device_.layouts().rootSignature(kernel->bindingCount);
  const std::vector<uint8_t> code = unpackDxil(moduleOf(*kernel, dispatch));
  desc.CS = {code.data(), code.size()};
  ComPtr<ID3D12PipelineState> pipeline;
  const Outcome created("CreateComputePipelineState",
                        device_.handle().CreateComputePipelineState(&desc, IID_PPV_ARGS(&pipeline)));
  if (!created) return created.error(cat(" of ", kernel->name));

  // Another thread may have compiled the same meanwhile: the first one in the map is kept.
  std::lock_guard lock(mutex_);
  return pipelines_.emplace(keyOf(dispatch), std::move(pipeline)).first->second;
}

void PipelineCache::compile(std::span<const Dispatch> dispatches) {
  const auto isKnown = [&](const Key& key) {
    std::lock_guard lock(mutex_);
    return pipelines_.contains(key);
  };
  compileInParallel(
      dispatches, [&](const Dispatch& dispatch) { return keyOf(dispatch); }, isKnown,
      [&](const Dispatch& dispatch) { static_cast<void>(get(dispatch)); });
}

PlanExecutable::~PlanExecutable() {
  // Better lost than used by the device after it is freed.
  if (!device_.settle()) static_cast<void>(used_.release());
}

void PlanExecutable::keep(std::shared_ptr<Buffer> buffer) const {
  std::lock_guard lock(mutex_);
  used_->kept.push_back(std::move(buffer));
}

Result<std::unique_ptr<Executable>> Device::prepare(std::span<const Dispatch> dispatches,
                                                    std::span<const uint32_t> parameters) {
  if (lost_) return Error{ErrorCode::DeviceLost, "The device is removed."};
  pipelines_->compile(dispatches);
  std::vector<PlanExecutable::Item> items;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    auto pipeline = pipelines_->get(dispatch);
    if (!pipeline) return pipeline.error();
    items.push_back({std::move(*pipeline), static_cast<uint32_t>(dispatch.buffers.size()),
                     Plan::sharesDescriptors(dispatches, i), dispatch.parameterOffset, dispatch.push,
                     specializationWords(*findKernel(dispatch.kernel), dispatch), dispatch.groups,
                     dispatch.barrierBefore, kernelName(dispatch.kernel), markerOf(dispatch)});
  }
  ParameterMemory::Block block;
  if (!items.empty()) {
    auto stored = parameterMemory_->store(parameters);
    if (!stored) return stored.error();
    block = std::move(*stored);
    for (auto& item : items) item.parameters += block.buffer().handle().GetGPUVirtualAddress() + block.offset();
  }
  return std::unique_ptr<Executable>(std::make_unique<PlanExecutable>(*this, std::move(items), std::move(block)));
}

}  // namespace dimple::d3d12
