// Operators compiled and executed on a device, through nothing but the public interface.
#pragma once

#include <vector>

#include "clients/dimple/device.h"

namespace dimple::tool {

// A range of a buffer; no buffer: nothing is bound.
struct BoundBuffer {
  ID3D12Resource* buffer = nullptr;
  UINT64 offset = 0;
  UINT64 bytes = 0;
};

struct CompiledOperator {
  Com<IDMLCompiledOperator> compiled;
  DML_BINDING_PROPERTIES properties{};
  Com<ID3D12Resource> persistent;
};

Com<ID3D12Resource> createBuffer(const Device& device, UINT64 bytes);

// `place` begins the message of an InputError if DirectML refuses the description.
CompiledOperator compileOperator(const Device& device, const DML_OPERATOR_DESC& desc, DML_EXECUTION_FLAGS flags,
                                 const std::string& place);

// The same for operators as nodes of one graph.
CompiledOperator compileGraph(const Device& device, const DML_GRAPH_DESC& desc, DML_EXECUTION_FLAGS flags,
                              const std::string& place);
// An operator as a graph's node takes it.
Com<IDMLOperator> createOperator(const Device& device, const DML_OPERATOR_DESC& desc, const std::string& place);

// Records dispatches into one command list, which runs when it is flushed. Dispatches execute in order.
class Runner {
 public:
  // `descriptors` are all that initialize() and dispatch() will take; dispatches beyond them need a flush first.
  Runner(const Device& device, UINT descriptors, UINT64 temporaryBytes);

  // Initializes operators. `owned[i]` has one entry for each input of operator i: those that DML owns.
  void initialize(const std::vector<CompiledOperator*>& operators, const std::vector<std::vector<BoundBuffer>>& owned);
  void dispatch(const CompiledOperator& op, const std::vector<BoundBuffer>& inputs,
                const std::vector<BoundBuffer>& outputs);
  // Executes what was recorded and waits for it. Milliseconds of that.
  double flush();
  // The recorded dispatches, executed again.
  double repeat();

 private:
  void bind(IDMLDispatchable* dispatchable, const DML_BINDING_PROPERTIES& properties);
  void record(IDMLDispatchable* dispatchable);
  void openList();

  const Device& device_;
  Com<IDMLCommandRecorder> recorder_;
  Com<ID3D12DescriptorHeap> heap_;
  Com<ID3D12Resource> temporary_;
  Com<ID3D12GraphicsCommandList> list_;
  Com<IDMLBindingTable> table_;
  // Descriptors and tables of recorded dispatches stay as they are until these have executed.
  std::vector<Com<IDMLBindingTable>> tables_;
  UINT descriptors_ = 0;
  UINT usedDescriptors_ = 0;
  bool recording_ = false;
};

}  // namespace dimple::tool
