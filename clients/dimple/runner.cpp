#include "clients/dimple/runner.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "clients/files/failure.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// The structures that Bind* methods take, for buffers that may be absent.
class BindingDescs {
 public:
  explicit BindingDescs(const std::vector<BoundBuffer>& buffers) {
    for (const BoundBuffer& b : buffers) bindings_.push_back({b.buffer, b.offset, b.bytes});
    for (const DML_BUFFER_BINDING& b : bindings_)
      descs_.push_back(b.Buffer ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &b}
                                : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr});
  }
  BindingDescs(const BindingDescs&) = delete;

  UINT count() const { return static_cast<UINT>(descs_.size()); }
  const DML_BINDING_DESC* data() const { return descs_.empty() ? nullptr : descs_.data(); }
  const DML_BUFFER_BINDING* buffers() const { return bindings_.data(); }

 private:
  std::vector<DML_BUFFER_BINDING> bindings_;
  std::vector<DML_BINDING_DESC> descs_;
};

}  // namespace

Com<ID3D12Resource> createBuffer(const Device& device, UINT64 bytes) {
  Com<ID3D12Resource> buffer;
  device.check(device.context().CreateBuffer(bytes, buffer.put()), cat("A buffer of ", bytes, " bytes cannot be made"));
  return buffer;
}

Com<IDMLOperator> createOperator(const Device& device, const DML_OPERATOR_DESC& desc, const std::string& place) {
  Com<IDMLOperator> op;
  const HRESULT created = device.dml().CreateOperator(&desc, IID_PPV_ARGS(op.put()));
  if (created == E_INVALIDARG) throw InputError(cat(place, " is refused: ", dimpleGetLastMessage()));
  device.check(created, cat(place, " cannot be created"));
  return op;
}

namespace {

CompiledOperator withResources(const Device& device, Com<IDMLCompiledOperator> compiled) {
  CompiledOperator result;
  result.compiled = std::move(compiled);
  result.properties = dimpleGetBindingProperties(result.compiled.get());
  if (result.properties.PersistentResourceSize)
    result.persistent = createBuffer(device, result.properties.PersistentResourceSize);
  return result;
}

}  // namespace

CompiledOperator compileOperator(const Device& device, const DML_OPERATOR_DESC& desc, DML_EXECUTION_FLAGS flags,
                                 const std::string& place) {
  const Com<IDMLOperator> op = createOperator(device, desc, place);
  Com<IDMLCompiledOperator> compiled;
  device.check(device.dml().CompileOperator(op.get(), flags, IID_PPV_ARGS(compiled.put())),
               cat(place, " cannot be compiled"));
  return withResources(device, std::move(compiled));
}

CompiledOperator compileGraph(const Device& device, const DML_GRAPH_DESC& desc, DML_EXECUTION_FLAGS flags,
                              const std::string& place) {
  Com<IDMLDevice1> dml;
  Com<IDMLCompiledOperator> compiled;
  device.check(device.dml().QueryInterface(IID_PPV_ARGS(dml.put())), "The device has no graphs");
  const HRESULT result = dml->CompileGraph(&desc, flags, IID_PPV_ARGS(compiled.put()));
  if (result == E_INVALIDARG) throw InputError(cat(place, " is refused: ", dimpleGetLastMessage()));
  device.check(result, cat(place, " cannot be compiled"));
  return withResources(device, std::move(compiled));
}

Runner::Runner(const Device& device, UINT descriptors, UINT64 temporaryBytes)
    : device_(device), descriptors_(std::max(descriptors, 1u)) {
  device.check(device.dml().CreateCommandRecorder(IID_PPV_ARGS(recorder_.put())), "A command recorder cannot be made");
  device.check(device.context().CreateDescriptorHeap(descriptors_, heap_.put()), "A descriptor heap cannot be made");
  if (temporaryBytes) temporary_ = createBuffer(device, temporaryBytes);
}

void Runner::openList() {
  if (recording_) return;
  if (list_)
    device_.check(device_.context().ResetCommandList(list_.get()), "A command list cannot be reset");
  else
    device_.check(device_.context().CreateCommandList(list_.put()), "A command list cannot be made");
  ID3D12DescriptorHeap* heap = heap_.get();
  list_->SetDescriptorHeaps(1, &heap);
  tables_.clear();
  usedDescriptors_ = 0;
  recording_ = true;
}

void Runner::bind(IDMLDispatchable* dispatchable, const DML_BINDING_PROPERTIES& properties) {
  openList();
  const UINT64 start = UINT64{usedDescriptors_} * device_.context().GetDescriptorIncrement();
  DML_BINDING_TABLE_DESC desc{};
  desc.Dispatchable = dispatchable;
  desc.CPUDescriptorHandle.ptr = dimpleGetCPUStart(heap_.get()).ptr + static_cast<SIZE_T>(start);
  desc.GPUDescriptorHandle.ptr = dimpleGetGPUStart(heap_.get()).ptr + start;
  desc.SizeInDescriptors = properties.RequiredDescriptorCount;
  usedDescriptors_ += properties.RequiredDescriptorCount;
  device_.check(device_.dml().CreateBindingTable(&desc, IID_PPV_ARGS(table_.put())), "A binding table cannot be made");
  tables_.push_back(table_);
  if (properties.TemporaryResourceSize) {
    const DML_BUFFER_BINDING binding{temporary_.get(), 0, properties.TemporaryResourceSize};
    const DML_BINDING_DESC bindingDesc{DML_BINDING_TYPE_BUFFER, &binding};
    table_->BindTemporaryResource(&bindingDesc);
  }
}

void Runner::record(IDMLDispatchable* dispatchable) {
  recorder_->RecordDispatch(list_.get(), dispatchable, table_.get());
  // Everything a dispatch wrote, the temporary resource included, is seen by the next.
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list_->ResourceBarrier(1, &barrier);
  device_.checkAlive();
}

void Runner::initialize(const std::vector<CompiledOperator*>& operators,
                        const std::vector<std::vector<BoundBuffer>>& owned) {
  if (operators.empty()) return;
  std::vector<IDMLCompiledOperator*> compiled;
  for (const CompiledOperator* op : operators) compiled.push_back(op->compiled.get());
  Com<IDMLOperatorInitializer> initializer;
  device_.check(device_.dml().CreateOperatorInitializer(static_cast<UINT>(compiled.size()), compiled.data(),
                                                        IID_PPV_ARGS(initializer.put())),
                "An operator initializer cannot be made");
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(initializer.get());
  // The operators' own heap and temporary resource are planned without the initializer's.
  Runner runner(device_, properties.RequiredDescriptorCount, properties.TemporaryResourceSize);
  runner.bind(initializer.get(), properties);
  std::deque<BindingDescs> inputs;
  std::vector<DML_BUFFER_ARRAY_BINDING> arrays;
  for (const auto& buffers : owned) {
    const BindingDescs& descs = inputs.emplace_back(buffers);
    arrays.push_back({descs.count(), descs.buffers()});
  }
  std::vector<DML_BINDING_DESC> inputDescs;
  for (const auto& array : arrays) inputDescs.push_back({DML_BINDING_TYPE_BUFFER_ARRAY, &array});
  runner.table_->BindInputs(static_cast<UINT>(inputDescs.size()), inputDescs.data());
  std::vector<BoundBuffer> persistent;
  for (const CompiledOperator* op : operators)
    persistent.push_back({op->persistent.get(), 0, op->properties.PersistentResourceSize});
  const BindingDescs outputs(persistent);
  runner.table_->BindOutputs(outputs.count(), outputs.data());
  runner.record(initializer.get());
  runner.flush();
}

void Runner::dispatch(const CompiledOperator& op, const std::vector<BoundBuffer>& inputs,
                      const std::vector<BoundBuffer>& outputs) {
  bind(op.compiled.get(), op.properties);
  if (op.persistent) {
    const DML_BUFFER_BINDING binding{op.persistent.get(), 0, op.properties.PersistentResourceSize};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
    table_->BindPersistentResource(&desc);
  }
  const BindingDescs inputDescs(inputs);
  const BindingDescs outputDescs(outputs);
  table_->BindInputs(inputDescs.count(), inputDescs.data());
  table_->BindOutputs(outputDescs.count(), outputDescs.data());
  record(op.compiled.get());
}

double Runner::flush() {
  if (!recording_) return 0;
  device_.check(list_->Close(), "A command list cannot be closed");
  recording_ = false;
  return repeat();
}

double Runner::repeat() {
  const auto start = std::chrono::steady_clock::now();
  UINT64 fence = 0;
  device_.check(device_.context().Execute(list_.get(), &fence), "The command list cannot be executed");
  device_.check(device_.context().Wait(fence), "The work did not complete");
  device_.checkAlive();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace dimple::tool
