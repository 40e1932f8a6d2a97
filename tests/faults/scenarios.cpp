#include "tests/faults/scenarios.h"

#include <array>
#include <numeric>

#ifdef DIMPLE_WITH_D3D12
#include "backend_d3d12/d3d12.h"
#else
#include "tests/caller.h"
#endif

#define STEP(...)                                                            \
  do {                                                                       \
    if (const HRESULT failed = (__VA_ARGS__); FAILED(failed)) return failed; \
  } while (false)

namespace dimple::testing {
namespace {

constexpr UINT kCount = 64;
constexpr UINT64 kBytes = kCount * sizeof(float);

std::array<float, kCount> numbers(float first) {
  std::array<float, kCount> values{};
  std::iota(values.begin(), values.end(), first);
  return values;
}

class Tensor {
 public:
  explicit Tensor(DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE)
      : buffer_{DML_TENSOR_DATA_TYPE_FLOAT32, flags, 1, &kCount, nullptr, kBytes, 0} {}
  DML_TENSOR_DESC desc() const { return {DML_TENSOR_TYPE_BUFFER, &buffer_}; }

 private:
  DML_BUFFER_TENSOR_DESC buffer_;
};

enum class Function { Add, Multiply };

HRESULT createOperator(IDMLDevice& device, Function function, DML_TENSOR_FLAGS second, ComPtr<IDMLOperator>& made) {
  const Tensor plain, other(second);
  const DML_TENSOR_DESC a = plain.desc(), b = other.desc();
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add{&a, &b, &a};
  const DML_ELEMENT_WISE_MULTIPLY_OPERATOR_DESC multiply{&a, &b, &a};
  const DML_OPERATOR_DESC desc = function == Function::Add
                                     ? DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_ADD, &add}
                                     : DML_OPERATOR_DESC{DML_OPERATOR_ELEMENT_WISE_MULTIPLY, &multiply};
  return device.CreateOperator(&desc, IID_PPV_ARGS(&made));
}

DML_BINDING_DESC bindingOf(const DML_BUFFER_BINDING& buffer) {
  return buffer.Buffer ? DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffer}
                       : DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr};
}

// A dispatchable with descriptors and a binding table of its own.
struct Bound {
  HRESULT prepare(Session& session, IDMLDispatchable* dispatchable) {
    const UINT count = dimpleGetBindingProperties(dispatchable).RequiredDescriptorCount;
    STEP(session.context().CreateDescriptorHeap(count + 1, &heap));
    const DML_BINDING_TABLE_DESC desc{dispatchable, dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()),
                                      count};
    return session.device().CreateBindingTable(&desc, IID_PPV_ARGS(&table));
  }
  HRESULT record(IDMLCommandRecorder& recorder, ID3D12GraphicsCommandList& list, IDMLDispatchable* dispatchable) const {
    ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
    list.SetDescriptorHeaps(1, heaps);
    recorder.RecordDispatch(&list, dispatchable, table.Get());
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    list.ResourceBarrier(1, &barrier);
    return S_OK;
  }
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<IDMLBindingTable> table;
};

HRESULT createInput(Session& session, float first, ComPtr<ID3D12Resource>& made) {
  const auto values = numbers(first);
  STEP(session.context().CreateBuffer(kBytes, &made));
  return session.context().Upload(made.Get(), 0, values.data(), kBytes);
}

HRESULT createOptional(Session& session, UINT64 bytes, DML_BUFFER_BINDING& binding, ComPtr<ID3D12Resource>& made) {
  if (bytes == 0) return S_OK;
  STEP(session.context().CreateBuffer(bytes, &made));
  binding = {made.Get(), 0, bytes};
  return S_OK;
}

// Closes a list. One that could not be closed is not executed: Dimple's own is refused, and with a list of Direct3D's
// that is the program's duty.
HRESULT closeList(Session& session, ID3D12GraphicsCommandList* list) {
  const HRESULT closed = list->Close();
  if (SUCCEEDED(closed)) return closed;
  if (session.options().backend == DIMPLE_BACKEND_D3D12) {
    session.setOwnCall();
    return closed;
  }
  session.keepText();
  return SUCCEEDED(session.context().Execute(list, nullptr)) ? kWrongNumbers : closed;
}

// Opens a list again. One that could not be opened is not executed; Direct3D's may also be as it was.
HRESULT resetList(Session& session, ID3D12GraphicsCommandList* list) {
  const HRESULT opened = session.context().ResetCommandList(list);
  if (SUCCEEDED(opened)) return opened;
  session.keepText();
  UINT64 fence = 0;
  if (FAILED(session.context().Execute(list, &fence))) return opened;
  static_cast<void>(session.context().Wait(fence));
  return session.options().backend == DIMPLE_BACKEND_D3D12 ? opened : kWrongNumbers;
}

// Initializes and executes a compiled operator of two inputs, the second of which DML may own, and reads its output.
HRESULT execute(Session& session, IDMLCompiledOperator* compiled, bool owned,
                const std::function<float(float, float)>& expected) {
  ComPtr<ID3D12Resource> a, b, y, persistent, temporary, initTemporary;
  STEP(createInput(session, 1, a));
  STEP(createInput(session, 100, b));
  STEP(session.context().CreateBuffer(kBytes, &y));
  ComPtr<IDMLOperatorInitializer> initializer;
  STEP(session.device().CreateOperatorInitializer(1, &compiled, IID_PPV_ARGS(&initializer)));
  const auto needs = dimpleGetBindingProperties(compiled);
  DML_BUFFER_BINDING persistentBinding{}, temporaryBinding{}, initTemporaryBinding{};
  STEP(createOptional(session, needs.PersistentResourceSize, persistentBinding, persistent));
  STEP(createOptional(session, needs.TemporaryResourceSize, temporaryBinding, temporary));
  STEP(createOptional(session, dimpleGetBindingProperties(initializer.Get()).TemporaryResourceSize,
                      initTemporaryBinding, initTemporary));

  Bound initialization, execution;
  STEP(initialization.prepare(session, initializer.Get()));
  STEP(execution.prepare(session, compiled));
  const DML_BINDING_DESC persistentDesc = bindingOf(persistentBinding);
  const DML_BUFFER_BINDING weights[] = {{}, {b.Get(), 0, kBytes}};
  const DML_BUFFER_ARRAY_BINDING array{2, weights};
  const DML_BINDING_DESC ownedDesc{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  if (owned) initialization.table->BindInputs(1, &ownedDesc);
  if (persistent) initialization.table->BindOutputs(1, &persistentDesc);
  const DML_BINDING_DESC initTemporaryDesc = bindingOf(initTemporaryBinding);
  if (initTemporary) initialization.table->BindTemporaryResource(&initTemporaryDesc);

  const DML_BUFFER_BINDING inputs[] = {{a.Get(), 0, kBytes}, {owned ? nullptr : b.Get(), 0, owned ? 0 : kBytes}};
  const DML_BINDING_DESC inputDescs[] = {bindingOf(inputs[0]), bindingOf(inputs[1])};
  const DML_BUFFER_BINDING output{y.Get(), 0, kBytes};
  const DML_BINDING_DESC outputDesc = bindingOf(output), temporaryDesc = bindingOf(temporaryBinding);
  execution.table->BindInputs(2, inputDescs);
  execution.table->BindOutputs(1, &outputDesc);
  if (persistent) execution.table->BindPersistentResource(&persistentDesc);
  if (temporary) execution.table->BindTemporaryResource(&temporaryDesc);

  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<ID3D12GraphicsCommandList> list;
  STEP(session.device().CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  STEP(session.context().CreateCommandList(&list));
  STEP(initialization.record(*recorder.Get(), *list.Get(), initializer.Get()));
  STEP(execution.record(*recorder.Get(), *list.Get(), compiled));
  STEP(closeList(session, list.Get()));
  UINT64 fence = 0;
  STEP(session.context().Execute(list.Get(), &fence));
  STEP(session.context().Wait(fence));
  std::array<float, kCount> sums{};
  STEP(session.context().Download(y.Get(), 0, sums.data(), kBytes));
  const auto first = numbers(1), second = numbers(100);
  for (UINT i = 0; i < kCount; ++i)
    if (sums[i] != expected(first[i], second[i])) return kWrongNumbers;
  return S_OK;
}

HRESULT opens(Session& session) {
  session.begin();
  return session.open();
}

HRESULT listsAdapters(Session& session) {
  session.begin();
  DimpleAdapterDesc desc{};
  return dimpleEnumerateAdapters(0, &desc);
}

HRESULT addsWeights(Session& session) {
  STEP(session.open());
  session.begin();
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  STEP(createOperator(session.device(), Function::Add, DML_TENSOR_FLAG_OWNED_BY_DML, op));
  STEP(session.device().CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
  return execute(session, compiled.Get(), true, [](float a, float b) { return a + b; });
}

HRESULT runsGraph(Session& session) {
  STEP(session.open());
  session.begin();
  ComPtr<IDMLOperator> add, multiply;
  STEP(createOperator(session.device(), Function::Add, DML_TENSOR_FLAG_NONE, add));
  STEP(createOperator(session.device(), Function::Multiply, DML_TENSOR_FLAG_NONE, multiply));
  const DML_OPERATOR_GRAPH_NODE_DESC nodes[] = {{add.Get(), "sum"}, {multiply.Get(), "product"}};
  const DML_GRAPH_NODE_DESC nodeDescs[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[0]},
                                           {DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[1]}};
  const DML_INPUT_GRAPH_EDGE_DESC inputs[] = {{0, 0, 0, nullptr}, {1, 0, 1, nullptr}, {1, 1, 1, nullptr}};
  const DML_GRAPH_EDGE_DESC inputDescs[] = {{DML_GRAPH_EDGE_TYPE_INPUT, &inputs[0]},
                                            {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[1]},
                                            {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[2]}};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC between{0, 0, 1, 0, nullptr};
  const DML_GRAPH_EDGE_DESC betweenDesc{DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between};
  const DML_OUTPUT_GRAPH_EDGE_DESC output{1, 0, 0, nullptr};
  const DML_GRAPH_EDGE_DESC outputDesc{DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
  const DML_GRAPH_DESC graph{2, 1, 2, nodeDescs, 3, inputDescs, 1, &outputDesc, 1, &betweenDesc};
  ComPtr<IDMLCompiledOperator> compiled;
  STEP(session.device().CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
  return execute(session, compiled.Get(), false, [](float a, float b) { return (a + b) * b; });
}

// In several parts, the last of which is short.
HRESULT transfers(Session& session) {
  STEP(session.open());
  session.begin();
  const std::vector<uint32_t> sent((size_t{16} << 18) + 5, 0x12345678);
  std::vector<uint32_t> received(sent.size());
  const UINT64 bytes = sent.size() * sizeof(uint32_t);
  ComPtr<ID3D12Resource> buffer;
  STEP(session.context().CreateBuffer(bytes, &buffer));
  STEP(session.context().Upload(buffer.Get(), 0, sent.data(), bytes));
  STEP(session.context().Download(buffer.Get(), 0, received.data(), bytes));
  return received == sent ? S_OK : kWrongNumbers;
}

void STDMETHODCALLTYPE countEntry(void* count, const char*, double) { ++*static_cast<UINT*>(count); }

HRESULT profiles(Session& session) {
  STEP(session.open());
  session.begin();
  STEP(session.context().SetProfiling(TRUE));
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  STEP(createOperator(session.device(), Function::Multiply, DML_TENSOR_FLAG_NONE, op));
  STEP(session.device().CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
  STEP(execute(session, compiled.Get(), false, [](float a, float b) { return a * b; }));
  UINT count = 0;
  STEP(session.context().ReadProfile(countEntry, &count));
  return count == 1 ? S_OK : kWrongNumbers;
}

HRESULT executeCopies(Session& session, ID3D12Resource* from, ID3D12Resource* to, UINT64& fence) {
  auto& context = session.context();
  ComPtr<ID3D12GraphicsCommandList> list, other;
  STEP(context.CreateCommandList(&list));
  list->CopyBufferRegion(to, 0, from, 0, kBytes);
  STEP(closeList(session, list.Get()));
  STEP(context.Execute(list.Get(), &fence));
  STEP(context.Wait(fence));
  STEP(context.Execute(list.Get(), &fence));
  STEP(context.Wait(fence));
  STEP(resetList(session, list.Get()));
  list->CopyBufferRegion(from, 0, to, 0, kBytes);
  STEP(closeList(session, list.Get()));
  STEP(context.CreateCommandList(&other));
  other->CopyBufferRegion(to, 0, from, 0, kBytes);
  STEP(closeList(session, other.Get()));
  STEP(context.Execute(list.Get(), &fence));
  STEP(context.Execute(other.Get(), &fence));
  return S_OK;
}

// Lists that are executed again, emptied, and released while they execute.
HRESULT executesLists(Session& session) {
  STEP(session.open());
  session.begin();
  auto& context = session.context();
  ComPtr<ID3D12Resource> from, to;
  STEP(createInput(session, 7, from));
  STEP(context.CreateBuffer(kBytes, &to));
  UINT64 fence = 0;
  std::array<float, kCount> values{};
  HRESULT result = executeCopies(session, from.Get(), to.Get(), fence);
  if (SUCCEEDED(result)) result = context.Download(to.Get(), 0, values.data(), kBytes);
  if (SUCCEEDED(result)) return values == numbers(7) ? S_OK : kWrongNumbers;
  // Buffers of Direct3D are the program's to keep while they are used.
  if (session.text().empty()) session.keepText();
  static_cast<void>(context.Wait(fence));
  return result;
}

#ifdef DIMPLE_WITH_D3D12

// A Direct3D 12 device of the program's own.
class Own {
 public:
  Own() {
    const auto library = d3d12::loadLibrary();
    if (library && FAILED(library->createDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device_))))
      device_.Reset();
  }
  bool ready() const { return device_.Get() != nullptr; }
  HRESULT create(Session&, ComPtr<IDMLDevice1>& made) {
    return DMLCreateDevice1(device_.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&made));
  }
  HRESULT createHeap(Session& session, IDMLDevice1&, UINT count, ComPtr<ID3D12DescriptorHeap>& made) {
    const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count,
                                          D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    const HRESULT result = device_->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&made));
    if (FAILED(result)) session.setOwnCall();
    return result;
  }

 private:
  ComPtr<ID3D12Device> device_;
};

#else

// A program's own Vulkan.
class Own {
 public:
  bool ready() const { return caller_.ready(); }
  HRESULT create(Session& session, ComPtr<IDMLDevice1>& made) {
    DimpleVulkanDeviceDesc desc = caller_.desc();
    desc.PipelineCachePath = session.options().cachePath.empty() ? nullptr : session.options().cachePath.c_str();
    return dimpleCreateVulkanDevice(&desc, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, IID_PPV_ARGS(&made));
  }
  HRESULT createHeap(Session&, IDMLDevice1& device, UINT count, ComPtr<ID3D12DescriptorHeap>& made) {
    return dimpleCreateDescriptorHeap(&device, count, &made);
  }

 private:
  Caller caller_;
};

#endif

// A device over the program's own, up to recorded work.
HRESULT recordsForCaller(Session& session) {
  Own own;
  if (!own.ready()) return kWrongNumbers;
  session.begin();
  ComPtr<IDMLDevice1> device;
  STEP(own.create(session, device));
  const HRESULT result = [&]() -> HRESULT {
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    STEP(createOperator(*device.Get(), Function::Add, DML_TENSOR_FLAG_NONE, op));
    STEP(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    ComPtr<ID3D12DescriptorHeap> heap;
    const UINT count = dimpleGetBindingProperties(compiled.Get()).RequiredDescriptorCount;
    STEP(own.createHeap(session, *device.Get(), count, heap));
    const DML_BINDING_TABLE_DESC table{compiled.Get(), dimpleGetCPUStart(heap.Get()), dimpleGetGPUStart(heap.Get()),
                                       count};
    ComPtr<IDMLBindingTable> made;
    return device->CreateBindingTable(&table, IID_PPV_ARGS(&made));
  }();
  session.setRemovedReason(device->GetDeviceRemovedReason());
  return result;
}

constexpr Scenario kScenarios[] = {{"open", opens},          {"adapters", listsAdapters}, {"weights", addsWeights},
                                   {"graph", runsGraph},     {"transfers", transfers},    {"profile", profiles},
                                   {"lists", executesLists}, {"caller", recordsForCaller}};

}  // namespace

HRESULT Session::open() {
  DimpleContextDesc desc{};
  if (options_.validation) desc.Flags = DIMPLE_CONTEXT_FLAG_VALIDATION;
  desc.Backend = options_.backend;
  desc.MessageCallback = receive;
  desc.MessageContext = this;
  desc.PipelineCachePath = options_.cachePath.empty() ? nullptr : options_.cachePath.c_str();
  STEP(dimpleCreateContext(&desc, IID_PPV_ARGS(&context_)));
  return context_->GetDevice(IID_PPV_ARGS(&device_));
}

HRESULT Session::useAgain() {
  if (!context_) return S_OK;
  ComPtr<ID3D12Resource> buffer;
  STEP(createInput(*this, 3, buffer));
  std::array<float, kCount> values{};
  STEP(context_->Download(buffer.Get(), 0, values.data(), kBytes));
  return values == numbers(3) ? S_OK : kWrongNumbers;
}

void Session::close() {
  device_ = nullptr;
  context_ = nullptr;
}

std::optional<HRESULT> Session::removedReason() const {
  return device_ ? device_->GetDeviceRemovedReason() : removedReason_;
}

void STDMETHODCALLTYPE Session::receive(void* self, DimpleMessageSeverity severity, HRESULT, const char* text) {
  if (severity == DIMPLE_MESSAGE_WARNING) static_cast<Session*>(self)->messages_.emplace_back(text);
}

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace dimple::testing
