#include "tests/conformance/graphs/step_runner.h"

#include <algorithm>
#include <cstring>

#include "core/checked.h"
#include "core/text.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

// Between ranges, and what they are aligned to: no case guarantees more.
constexpr size_t kGap = 4096;
constexpr size_t kMinBytes = 16 << 20;
constexpr UINT kMinDescriptors = 8192;

}  // namespace

StepRunner::Range StepRunner::allocate(size_t bytes) {
  if (bytes == 0) return {};
  const Range range{before_.size(), bytes};
  Random random(before_.size());
  before_.resize(alignUp(before_.size() + bytes, kGap) + kGap);
  for (size_t at = range.offset; at < before_.size(); at += sizeof(uint64_t)) {
    const uint64_t poison = random.next();
    std::memcpy(&before_[at], &poison, sizeof poison);
  }
  written_.push_back(range);
  return range;
}

StepRunner::Range StepRunner::allocateHolding(std::span<const std::byte> bytes) {
  const Range range = allocate(bytes.size());
  std::ranges::copy(bytes, before_.begin() + static_cast<ptrdiff_t>(range.offset));
  return range;
}

StepRunner::Range StepRunner::upload(std::span<const std::byte> bytes) {
  const Range range = allocateHolding(bytes);
  written_.pop_back();
  return range;
}

void StepRunner::add(Step step) { steps_.push_back({std::move(step), {}, {}, {}, {}, {}, {}, {}}); }

DML_BUFFER_BINDING StepRunner::binding(const Range& range) const {
  return range.bytes ? DML_BUFFER_BINDING{memory_.buffer.Get(), range.offset, range.bytes} : DML_BUFFER_BINDING{};
}

std::string StepRunner::prepare(Ready& ready) {
  ready.execution = dimpleGetBindingProperties(ready.step.op.Get());
  ready.temporary = allocate(ready.execution.TemporaryResourceSize);
  ready.persistent = allocate(ready.execution.PersistentResourceSize);
  IDMLCompiledOperator* const operators[] = {ready.step.op.Get()};
  if (const HRESULT result = gpu_.device().CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&ready.initializer));
      FAILED(result))
    return cat("CreateOperatorInitializer: ", gpu_.refusalText(result));
  ready.initialization = dimpleGetBindingProperties(ready.initializer.Get());
  ready.scratch = allocate(ready.initialization.TemporaryResourceSize);
  return {};
}

std::string StepRunner::record(Ready& ready, bool initialization) {
  IDMLDispatchable* dispatchable = ready.step.op.Get();
  if (initialization) dispatchable = ready.initializer.Get();
  const UINT count = (initialization ? ready.initialization : ready.execution).RequiredDescriptorCount;
  DML_BINDING_TABLE_DESC desc{dispatchable, dimpleGetCPUStart(memory_.heap.Get()),
                              dimpleGetGPUStart(memory_.heap.Get()), count};
  desc.CPUDescriptorHandle.ptr += descriptor_ * gpu_.context().GetDescriptorIncrement();
  desc.GPUDescriptorHandle.ptr += descriptor_ * gpu_.context().GetDescriptorIncrement();
  descriptor_ += count;
  ComPtr<IDMLBindingTable> table;
  if (const HRESULT result = gpu_.device().CreateBindingTable(&desc, IID_PPV_ARGS(&table)); FAILED(result))
    return cat("CreateBindingTable: ", gpu_.refusalText(result));
  ready.tables.push_back(table);

  const auto describe = [](const DML_BUFFER_BINDING& buffer) {
    return buffer.Buffer ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffer} : DML_BINDING_DESC{};
  };
  std::vector<DML_BUFFER_BINDING> inputs, outputs;
  for (const Input& input : ready.step.inputs)
    inputs.push_back(binding(input.owned == initialization ? input.range : Range{}));
  for (const Range& range : ready.step.outputs) outputs.push_back(binding(range));
  const DML_BUFFER_BINDING persistent = binding(ready.persistent);
  const DML_BUFFER_BINDING temporary = binding(initialization ? ready.scratch : ready.temporary);
  const DML_BINDING_DESC persistentDesc = describe(persistent);
  const DML_BINDING_DESC temporaryDesc = describe(temporary);
  if (initialization) {
    const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(inputs.size()), inputs.data()};
    const DML_BINDING_DESC inputDesc =
        inputs.empty() ? DML_BINDING_DESC{} : DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &inputDesc);
    table->BindOutputs(1, &persistentDesc);
  } else {
    std::vector<DML_BINDING_DESC> inputDescs, outputDescs;
    for (const auto& input : inputs) inputDescs.push_back(describe(input));
    for (const auto& output : outputs) outputDescs.push_back(describe(output));
    table->BindInputs(static_cast<UINT>(inputDescs.size()), inputDescs.data());
    table->BindOutputs(static_cast<UINT>(outputDescs.size()), outputDescs.data());
    if (persistent.Buffer) table->BindPersistentResource(&persistentDesc);
  }
  if (temporary.Buffer) table->BindTemporaryResource(&temporaryDesc);
  memory_.recorder->RecordDispatch(memory_.list.Get(), dispatchable, table.Get());
  if (const HRESULT reason = gpu_.device().GetDeviceRemovedReason(); FAILED(reason))
    return cat("The device was removed. ", gpu_.refusalText(reason));
  return {};
}

// Opens the list, and uploads.
HRESULT StepRunner::reserve(UINT descriptors) {
  IDimpleContext& context = gpu_.context();
  HRESULT result = S_OK;
  if (!memory_.recorder) result = gpu_.device().CreateCommandRecorder(IID_PPV_ARGS(&memory_.recorder));
  if (SUCCEEDED(result))
    result = memory_.list ? context.ResetCommandList(memory_.list.Get()) : context.CreateCommandList(&memory_.list);
  if (SUCCEEDED(result) && memory_.bytes < before_.size()) {
    memory_.bytes = std::max(before_.size(), kMinBytes);
    result = context.CreateBuffer(memory_.bytes, memory_.buffer.ReleaseAndGetAddressOf());
  }
  if (SUCCEEDED(result) && memory_.descriptors < descriptors) {
    memory_.descriptors = std::max(descriptors, kMinDescriptors);
    result = context.CreateDescriptorHeap(memory_.descriptors, memory_.heap.ReleaseAndGetAddressOf());
  }
  if (FAILED(result)) return result;
  ID3D12DescriptorHeap* const heaps[] = {memory_.heap.Get()};
  memory_.list->SetDescriptorHeaps(1, heaps);
  return before_.empty() ? S_OK : context.Upload(memory_.buffer.Get(), 0, before_.data(), before_.size());
}

std::string StepRunner::run(size_t times) {
  UINT descriptors = 1;
  for (Ready& ready : steps_) {
    if (std::string error = prepare(ready); !error.empty()) return error;
    descriptors += ready.initialization.RequiredDescriptorCount +
                   static_cast<UINT>(times) * ready.execution.RequiredDescriptorCount;
  }
  IDimpleContext& context = gpu_.context();
  HRESULT result = reserve(descriptors);
  if (FAILED(result)) return gpu_.refusalText(result);
  auto& list = memory_.list;
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  for (Ready& ready : steps_)
    if (std::string error = record(ready, true); !error.empty()) return error;
  for (size_t time = 0; time < times; ++time)
    for (Ready& ready : steps_) {
      list->ResourceBarrier(1, &barrier);
      if (std::string error = record(ready, false); !error.empty()) return error;
    }
  UINT64 fence = 0;
  result = list->Close();
  if (SUCCEEDED(result)) result = context.Execute(memory_.list.Get(), &fence);
  if (SUCCEEDED(result)) result = context.Wait(fence);
  after_.resize(before_.size());
  if (SUCCEEDED(result) && !after_.empty())
    result = context.Download(memory_.buffer.Get(), 0, after_.data(), after_.size());
  if (FAILED(result)) return gpu_.refusalText(result);

  for (const Range& range : written_) std::memcpy(&before_[range.offset], &after_[range.offset], range.bytes);
  if (const auto [was, is] = std::ranges::mismatch(before_, after_); was != before_.end())
    return cat("Byte ", was - before_.begin(), " of memory, which belongs to no output, was changed.");
  return {};
}

}  // namespace dimple::testing
