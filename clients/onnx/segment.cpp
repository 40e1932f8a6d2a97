#include "clients/onnx/segment.h"

#include <algorithm>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

// The most recordings for different buffers, so that runs with other buffers need not wait for each other.
constexpr size_t kMaxRecordings = 4;

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

void upload(IDimpleContext& context, const BufferRange& to, const HostTensor& tensor) {
  const std::vector<std::byte> converted = sameOnDevice(tensor.type) ? std::vector<std::byte>() : deviceBytes(tensor);
  const auto& bytes = sameOnDevice(tensor.type) ? tensor.bytes : converted;
  check(context.Upload(to.buffer.Get(), to.offset, bytes.data(), bytes.size()), "A tensor cannot be uploaded");
}

void copy(IDimpleContext& context, const BufferRange& from, const BufferRange& to, UINT64 bytes) {
  ComPtr<ID3D12GraphicsCommandList> list;
  check(context.CreateCommandList(&list), "A command list cannot be made");
  list->CopyBufferRegion(to.buffer.Get(), to.offset, from.buffer.Get(), from.offset, bytes);
  check(list->Close(), "A command list cannot be closed");
  UINT64 fence = 0;
  check(context.Execute(list.Get(), &fence), "A command list cannot be executed");
}

HostTensor download(IDimpleContext& context, const BufferRange& from, Type type, const Sizes& sizes) {
  const auto read = [&](std::vector<std::byte>& bytes) {
    check(context.Download(from.buffer.Get(), from.offset, bytes.data(), bytes.size()),
          "A tensor cannot be downloaded");
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

Segment::Segment(IDimpleContext& context, IDMLDevice& device, const GraphBuilder& graph,
                 const std::vector<Value>& outputs, DML_EXECUTION_FLAGS flags)
    : context_(context), device_(device) {
  std::vector<UINT> usedInputs;
  compiled_ = graph.compile(outputs, flags, usedInputs);
  std::vector<SharedTensor> constants;
  for (const UINT used : usedInputs) {
    const GraphBuilder::Input& input = graph.inputs()[used];
    inputs_.push_back({input.bytes, input.owned, nullptr});
    constants.push_back(input.constant);
    if (!input.constant) reads_.push_back(input.name);
  }
  for (const Value& output : outputs) outputBytes_.push_back(output.bufferBytes);
  initialize(constants);
  if (const UINT64 bytes = dimpleGetBindingProperties(compiled_.Get()).TemporaryResourceSize)
    temporary_ = createBuffer(context_, bytes);
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(compiled_.Get());
  deviceBytes_ = properties.PersistentResourceSize + properties.TemporaryResourceSize;
  for (const Input& input : inputs_) deviceBytes_ += input.constant ? input.bytes : 0;
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

void Segment::record(ComPtr<ID3D12GraphicsCommandList>& list, IDMLDispatchable* dispatchable, IDMLBindingTable* table,
                     ID3D12DescriptorHeap* heap) const {
  ComPtr<IDMLCommandRecorder> recorder;
  check(device_.CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "A command recorder cannot be made");
  if (list)
    check(context_.ResetCommandList(list.Get()), "A command list cannot be recorded anew");
  else
    check(context_.CreateCommandList(&list), "A command list cannot be made");
  list->SetDescriptorHeaps(1, &heap);
  recorder->RecordDispatch(list.Get(), dispatchable, table);
  check(device_.GetDeviceRemovedReason(), "The device was removed");
  check(list->Close(), "A command list cannot be closed");
}

UINT64 Segment::execute(ID3D12GraphicsCommandList* list) const {
  UINT64 fence = 0;
  check(context_.Execute(list, &fence), "A command list cannot be executed");
  check(device_.GetDeviceRemovedReason(), "The device was removed");
  return fence;
}

void Segment::initialize(std::span<const SharedTensor> constants) {
  IDMLCompiledOperator* const operators[] = {compiled_.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  check(device_.CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)), "An initializer cannot be made");
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(initializer.Get());
  const ComPtr<ID3D12DescriptorHeap> heap = createHeap(properties.RequiredDescriptorCount);
  const ComPtr<IDMLBindingTable> table = createTable(initializer.Get(), properties, heap.Get());

  std::vector<ComPtr<ID3D12Resource>> owned;  // until the initialization is done
  std::vector<DML_BUFFER_BINDING> buffers;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    buffers.push_back({nullptr, 0, 0});
    if (!constants[i]) continue;
    ComPtr<ID3D12Resource> buffer = createBuffer(context_, inputs_[i].bytes);
    upload(context_, {buffer, 0}, *constants[i]);
    if (inputs_[i].owned) {
      buffers.back() = {buffer.Get(), 0, inputs_[i].bytes};
      owned.push_back(std::move(buffer));
    } else {
      inputs_[i].constant = std::move(buffer);
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
  if (properties.TemporaryResourceSize) {
    temporary = createBuffer(context_, properties.TemporaryResourceSize);
    const DML_BUFFER_BINDING binding{temporary.Get(), 0, properties.TemporaryResourceSize};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
    table->BindTemporaryResource(&desc);
  }
  ComPtr<ID3D12GraphicsCommandList> list;
  record(list, initializer.Get(), table.Get(), heap.Get());
  check(context_.Wait(execute(list.Get())), "The work did not complete");
}

void Segment::bind(Recording& recording) const {
  const DML_BINDING_PROPERTIES properties = dimpleGetBindingProperties(compiled_.Get());
  if (!recording.heap) recording.heap = createHeap(properties.RequiredDescriptorCount);
  recording.table = createTable(compiled_.Get(), properties, recording.heap.Get());
  const auto bindOne = [](const ComPtr<ID3D12Resource>& buffer, UINT64 bytes, auto bindIt) {
    if (!buffer) return;
    const DML_BUFFER_BINDING binding{buffer.Get(), 0, bytes};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &binding};
    bindIt(&desc);
  };
  IDMLBindingTable& table = *recording.table.Get();
  bindOne(temporary_, properties.TemporaryResourceSize, [&](auto* desc) { table.BindTemporaryResource(desc); });
  bindOne(persistent_, properties.PersistentResourceSize, [&](auto* desc) { table.BindPersistentResource(desc); });
  std::vector<DML_BUFFER_BINDING> buffers;
  std::vector<DML_BINDING_DESC> descs;
  buffers.reserve(inputs_.size() + outputBytes_.size());  // descriptions point into it
  const auto add = [&](const BufferRange& range, UINT64 bytes) {
    buffers.push_back({range.buffer.Get(), range.offset, bytes});
    descs.push_back({DML_BINDING_TYPE_BUFFER, &buffers.back()});
  };
  size_t given = 0;
  for (const Input& input : inputs_) {
    if (input.owned)
      descs.push_back({DML_BINDING_TYPE_NONE, nullptr});
    else
      add(input.constant ? BufferRange{input.constant, 0} : recording.inputs[given++], input.bytes);
  }
  table.BindInputs(static_cast<UINT>(descs.size()), descs.data());
  descs.clear();
  for (size_t i = 0; i < outputBytes_.size(); ++i) add(recording.outputs[i], outputBytes_[i]);
  table.BindOutputs(static_cast<UINT>(descs.size()), descs.data());
  record(recording.list, compiled_.Get(), &table, recording.heap.Get());
}

// Returns the one with these buffers, otherwise a new one, or the one that was executed the longest ago.
Segment::Recording& Segment::recordingOf(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs) {
  for (Recording& recording : recordings_)
    if (std::ranges::equal(recording.inputs, inputs) && std::ranges::equal(recording.outputs, outputs))
      return recording;
  Recording next{{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}, {}, {}, {}, 0};
  if (recordings_.size() < kMaxRecordings) {
    bind(next);
    return recordings_.emplace_back(std::move(next));
  }
  const auto oldest = std::ranges::min_element(recordings_, {}, &Recording::fence);
  check(context_.Wait(oldest->fence), "The work did not complete");
  // Its table is bound anew, so that it must not be found again if that fails.
  next.heap = std::move(oldest->heap);
  next.list = std::move(oldest->list);
  recordings_.erase(oldest);
  bind(next);
  return recordings_.emplace_back(std::move(next));
}

Segment::Recording& Segment::recordTimed(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs) {
  if (timed_.fence) check(context_.Wait(timed_.fence), "The work did not complete");
  Recording next{{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()},
                 std::move(timed_.heap),         {},
                 std::move(timed_.list),         0};
  timed_ = std::move(next);
  bind(timed_);
  return timed_;
}

UINT64 Segment::submit(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs, bool isTimed) {
  Recording& recording = isTimed ? recordTimed(inputs, outputs) : recordingOf(inputs, outputs);
  // A list executes once at a time.
  if (recording.fence) check(context_.Wait(recording.fence), "The work did not complete");
  return recording.fence = execute(recording.list.Get());
}

}  // namespace dimple::onnx
