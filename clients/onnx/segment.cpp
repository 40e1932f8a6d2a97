#include "clients/onnx/segment.h"

#include <deque>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

void check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  const std::string message = dimpleGetLastMessage();
  throw DeviceError(message.empty() ? cat(what, ": error ", static_cast<uint32_t>(result), ".")
                                    : cat(what, ": ", message));
}

}  // namespace

ComPtr<ID3D12Resource> createBuffer(IDimpleContext& context, UINT64 bytes) {
  ComPtr<ID3D12Resource> buffer;
  check(context.CreateBuffer(bytes, &buffer), "A buffer cannot be made");
  return buffer;
}

void upload(IDimpleContext& context, ID3D12Resource* buffer, const HostTensor& tensor) {
  const std::vector<std::byte> converted = sameOnDevice(tensor.type) ? std::vector<std::byte>() : deviceBytes(tensor);
  const auto& bytes = sameOnDevice(tensor.type) ? tensor.bytes : converted;
  check(context.Upload(buffer, 0, bytes.data(), bytes.size()), "A tensor cannot be uploaded");
}

HostTensor download(IDimpleContext& context, ID3D12Resource* buffer, Type type, const Sizes& sizes) {
  const auto read = [&](std::vector<std::byte>& bytes) {
    check(context.Download(buffer, 0, bytes.data(), bytes.size()), "A tensor cannot be downloaded");
  };
  if (sameOnDevice(type)) {
    HostTensor tensor(type, sizes);
    read(tensor.bytes);
    return tensor;
  }
  std::vector<std::byte> bytes(static_cast<size_t>(elementCount(sizes)) * traits(type).deviceBytes);
  read(bytes);
  return fromDeviceBytes(type, sizes, bytes);
}

Segment::Segment(IDimpleContext& context, IDMLDevice& device, GraphBuilder& graph, const std::vector<Value>& outputs,
                 DML_EXECUTION_FLAGS flags)
    : context_(context), device_(device) {
  std::vector<UINT> usedInputs;
  compiled_ = graph.compile(outputs, flags, usedInputs);
  initialize(graph, usedInputs);
  record(graph, usedInputs, outputs);
}

ComPtr<ID3D12DescriptorHeap> Segment::createHeap(UINT count) const {
  ComPtr<ID3D12DescriptorHeap> heap;
  check(context_.CreateDescriptorHeap(count ? count : 1, &heap), "A descriptor heap cannot be made");
  return heap;
}

ComPtr<IDMLBindingTable> Segment::createTable(IDMLDispatchable* dispatchable, const DML_BINDING_PROPERTIES& properties,
                                              ID3D12DescriptorHeap* heap) const {
  const DML_BINDING_TABLE_DESC desc{dispatchable, dimpleGetCPUStart(heap), dimpleGetGPUStart(heap),
                                    properties.RequiredDescriptorCount};
  ComPtr<IDMLBindingTable> table;
  check(device_.CreateBindingTable(&desc, IID_PPV_ARGS(&table)), "A binding table cannot be made");
  return table;
}

void Segment::bindTemporary(IDMLBindingTable* table, const DML_BINDING_PROPERTIES& properties,
                            ComPtr<ID3D12Resource>& buffer) const {
  if (properties.TemporaryResourceSize == 0) return;
  buffer = createBuffer(context_, properties.TemporaryResourceSize);
  const DML_BUFFER_BINDING binding{buffer.Get(), 0, properties.TemporaryResourceSize};
  const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
  table->BindTemporaryResource(&desc);
}

ComPtr<ID3D12GraphicsCommandList> Segment::recordList(IDMLDispatchable* dispatchable, IDMLBindingTable* table,
                                                      ID3D12DescriptorHeap* heap) const {
  ComPtr<IDMLCommandRecorder> recorder;
  check(device_.CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "A command recorder cannot be made");
  ComPtr<ID3D12GraphicsCommandList> list;
  check(context_.CreateCommandList(&list), "A command list cannot be made");
  list->SetDescriptorHeaps(1, &heap);
  recorder->RecordDispatch(list.Get(), dispatchable, table);
  check(device_.GetDeviceRemovedReason(), "The device was removed");
  check(list->Close(), "A command list cannot be closed");
  return list;
}

void Segment::execute(ID3D12GraphicsCommandList* list) const {
  UINT64 fence = 0;
  check(context_.Execute(list, &fence), "A command list cannot be executed");
  check(context_.Wait(fence), "The work did not complete");
  check(device_.GetDeviceRemovedReason(), "The device was removed");
}

void Segment::initialize(GraphBuilder& graph, const std::vector<UINT>& usedInputs) {
  IDMLCompiledOperator* const operators[] = {compiled_.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  check(device_.CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)), "An initializer cannot be made");
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(initializer.Get());
  const ComPtr<ID3D12DescriptorHeap> heap = createHeap(properties.RequiredDescriptorCount);
  const ComPtr<IDMLBindingTable> table = createTable(initializer.Get(), properties, heap.Get());

  std::vector<ComPtr<ID3D12Resource>> owned;  // until the initialization is done
  std::vector<DML_BUFFER_BINDING> buffers;
  for (const UINT used : usedInputs) {
    GraphBuilder::Input& input = graph.inputs()[used];
    buffers.push_back({nullptr, 0, 0});
    if (!input.constant) continue;
    ComPtr<ID3D12Resource> buffer = createBuffer(context_, input.bytes);
    upload(context_, buffer.Get(), *input.constant);
    if (input.owned) {
      buffers.back() = {buffer.Get(), 0, input.bytes};
      owned.push_back(std::move(buffer));
    } else {
      input.buffer = std::move(buffer);
    }
  }
  const DML_BUFFER_ARRAY_BINDING array{static_cast<UINT>(buffers.size()), buffers.data()};
  const DML_BINDING_DESC inputs{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &inputs);
  const UINT64 persistentBytes = dimpleGetBindingProperties(compiled_.Get()).PersistentResourceSize;
  if (persistentBytes) {
    persistent_ = createBuffer(context_, persistentBytes);
    const DML_BUFFER_BINDING binding{persistent_.Get(), 0, persistentBytes};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
    table->BindOutputs(1, &desc);
  }
  ComPtr<ID3D12Resource> temporary;
  bindTemporary(table.Get(), properties, temporary);
  execute(recordList(initializer.Get(), table.Get(), heap.Get()).Get());
}

void Segment::record(const GraphBuilder& graph, const std::vector<UINT>& usedInputs,
                     const std::vector<Value>& outputs) {
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(compiled_.Get());
  heap_ = createHeap(properties.RequiredDescriptorCount);
  table_ = createTable(compiled_.Get(), properties, heap_.Get());
  bindTemporary(table_.Get(), properties, temporary_);
  if (persistent_) {
    const DML_BUFFER_BINDING binding{persistent_.Get(), 0, properties.PersistentResourceSize};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
    table_->BindPersistentResource(&desc);
  }
  std::deque<DML_BUFFER_BINDING> buffers;
  std::vector<DML_BINDING_DESC> descs;
  const auto bind = [&](const ComPtr<ID3D12Resource>& buffer, UINT64 bytes) {
    if (!buffer) {  // owned by DML
      descs.push_back({DML_BINDING_TYPE_NONE, nullptr});
      return;
    }
    buffers.push_back({buffer.Get(), 0, bytes});
    descs.push_back({DML_BINDING_TYPE_BUFFER, &buffers.back()});
  };
  for (const UINT used : usedInputs) {
    inputs_.push_back(graph.inputs()[used].buffer);
    bind(inputs_.back(), graph.inputs()[used].bytes);
  }
  table_->BindInputs(static_cast<UINT>(descs.size()), descs.data());
  descs.clear();
  for (const Value& output : outputs) {
    outputs_.push_back(createBuffer(context_, output.bufferBytes));
    bind(outputs_.back(), output.bufferBytes);
  }
  table_->BindOutputs(static_cast<UINT>(descs.size()), descs.data());
  list_ = recordList(compiled_.Get(), table_.Get(), heap_.Get());
}

void Segment::run() { execute(list_.Get()); }

}  // namespace dimple::onnx
