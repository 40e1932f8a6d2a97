// A compiled graph: what is submitted at once.
#pragma once

#include <span>
#include <vector>

#include "clients/onnx/graph.h"

namespace dimple::onnx {

// Where a tensor lies, packed.
struct BufferRange {
  ComPtr<ID3D12Resource> buffer;
  UINT64 offset = 0;

  // Not the default: some ComPtr compare only whether they are null.
  bool operator==(const BufferRange& other) const {
    return buffer.Get() == other.buffer.Get() && offset == other.offset;
  }
};

class Segment {
 public:
  // `outputs` are packed values of nodes. Uploads the constants and initializes the graph. Throws DeviceError.
  Segment(IDimpleContext& context, IDMLDevice& device, const GraphBuilder& graph, const std::vector<Value>& outputs,
          DML_EXECUTION_FLAGS flags);

  // The names of the graph's inputs that it reads.
  const std::vector<std::string>& reads() const { return reads_; }

  // Submits it, recorded anew if `isTimed`, since a list that executes again is not timed: `inputs` as reads() names
  // them, `outputs` as the constructor was given them. Returns the fence's value. The caller keeps the buffers until
  // the work is done; work that is submitted later sees what this makes.
  UINT64 submit(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs, bool isTimed = false);

  // Of the device's memory that it holds.
  UINT64 deviceBytes() const { return deviceBytes_; }

 private:
  // The graph with its buffers, in a list that may be executed again.
  struct Recording {
    std::vector<BufferRange> inputs;
    std::vector<BufferRange> outputs;
    ComPtr<ID3D12DescriptorHeap> heap;
    ComPtr<IDMLBindingTable> table;
    ComPtr<ID3D12GraphicsCommandList> list;
    UINT64 fence = 0;  // of the last execution
  };

  void initialize(std::span<const SharedTensor> constants);
  Recording& recordingOf(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs);
  Recording& recordTimed(std::span<const BufferRange> inputs, std::span<const BufferRange> outputs);
  void bind(Recording& recording) const;
  ComPtr<ID3D12DescriptorHeap> createHeap(UINT count) const;
  ComPtr<IDMLBindingTable> createTable(IDMLDispatchable* dispatchable, const DML_BINDING_PROPERTIES& properties,
                                       ID3D12DescriptorHeap* heap) const;
  // Records one dispatch into the list, which is closed before and after; null: into a new one.
  void record(ComPtr<ID3D12GraphicsCommandList>& list, IDMLDispatchable* dispatchable, IDMLBindingTable* table,
              ID3D12DescriptorHeap* heap) const;
  UINT64 execute(ID3D12GraphicsCommandList* list) const;

  struct Input {
    UINT64 bytes = 0;
    bool owned = false;               // by DML
    ComPtr<ID3D12Resource> constant;  // null: what submit() is given
  };

  IDimpleContext& context_;
  IDMLDevice& device_;
  ComPtr<IDMLCompiledOperator> compiled_;
  std::vector<Input> inputs_;
  std::vector<std::string> reads_;
  std::vector<UINT64> outputBytes_;
  UINT64 deviceBytes_ = 0;
  ComPtr<ID3D12Resource> persistent_;
  ComPtr<ID3D12Resource> temporary_;  // shared by all recordings: executions follow one another
  std::vector<Recording> recordings_;
  Recording timed_;  // the last one, which must not execute again
};

// Throws DeviceError.
ComPtr<ID3D12Resource> createBuffer(IDimpleContext& context, UINT64 bytes);
void upload(IDimpleContext& context, const BufferRange& to, const HostTensor& tensor);
// Within the device, before what is submitted later.
void copy(IDimpleContext& context, const BufferRange& from, const BufferRange& to, UINT64 bytes);
HostTensor download(IDimpleContext& context, const BufferRange& from, Type type, const Sizes& sizes);

}  // namespace dimple::onnx
