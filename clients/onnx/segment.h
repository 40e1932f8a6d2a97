// A compiled graph with its buffers: what runs at once.
#pragma once

#include <vector>

#include "clients/onnx/graph.h"

namespace dimple::onnx {

class Segment {
 public:
  // `outputs` are packed values of nodes. Uploads the constants and initializes the graph. Throws DeviceError.
  Segment(IDimpleContext& context, IDMLDevice& device, GraphBuilder& graph, const std::vector<Value>& outputs,
          DML_EXECUTION_FLAGS flags);

  // Runs it with what is in the buffers of its inputs, and waits.
  void run();
  const ComPtr<ID3D12Resource>& output(size_t index) const { return outputs_[index]; }

 private:
  void initialize(GraphBuilder& graph, const std::vector<UINT>& usedInputs);
  void record(const GraphBuilder& graph, const std::vector<UINT>& usedInputs, const std::vector<Value>& outputs);
  ComPtr<ID3D12DescriptorHeap> createHeap(UINT count) const;
  ComPtr<IDMLBindingTable> createTable(IDMLDispatchable* dispatchable, const DML_BINDING_PROPERTIES& properties,
                                       ID3D12DescriptorHeap* heap) const;
  void bindTemporary(IDMLBindingTable* table, const DML_BINDING_PROPERTIES& properties,
                     ComPtr<ID3D12Resource>& buffer) const;
  // A closed list that dispatches once.
  ComPtr<ID3D12GraphicsCommandList> recordList(IDMLDispatchable* dispatchable, IDMLBindingTable* table,
                                               ID3D12DescriptorHeap* heap) const;
  void execute(ID3D12GraphicsCommandList* list) const;

  IDimpleContext& context_;
  IDMLDevice& device_;
  ComPtr<IDMLCompiledOperator> compiled_;
  ComPtr<ID3D12Resource> persistent_;
  ComPtr<ID3D12Resource> temporary_;
  std::vector<ComPtr<ID3D12Resource>> inputs_;
  std::vector<ComPtr<ID3D12Resource>> outputs_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  ComPtr<IDMLBindingTable> table_;
  ComPtr<ID3D12GraphicsCommandList> list_;
};

// Throws DeviceError.
ComPtr<ID3D12Resource> createBuffer(IDimpleContext& context, UINT64 bytes);
void upload(IDimpleContext& context, ID3D12Resource* buffer, const HostTensor& tensor);
HostTensor download(IDimpleContext& context, ID3D12Resource* buffer, Type type, const Sizes& sizes);

}  // namespace dimple::onnx
