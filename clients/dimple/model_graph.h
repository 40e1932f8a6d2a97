// Adjacent dispatches of a model as one graph: a dispatch that reads what an earlier one wrote is connected to it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "clients/dimple/model.h"
#include "core/operation.h"

namespace dimple::tool {

class ModelGraph {
 public:
  struct Input {
    BindingSource source;
    uint64_t bytes = 0;  // of the largest tensor that is read there
    bool owned = false;  // bound at initialization
  };

  // Dispatches that no other command of the model stands between. A buffer that a later command needs, or that no
  // dispatch reads, is an output of the graph. Throws InputError where dispatches share memory as no graph does.
  static std::vector<ModelGraph> split(const Model& model);

  size_t firstCommand() const { return firstCommand_; }
  // In the order of the nodes.
  std::span<const DispatchCommand* const> dispatches() const { return dispatches_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<BindingSource>& outputs() const { return outputs_; }
  DML_EXECUTION_FLAGS flags() const { return flags_; }

  // `operators`: one a node. Valid as long as this object and the model.
  DML_GRAPH_DESC desc(std::span<IDMLOperator* const> operators);

 private:
  struct Written {
    BindingSource source;
    uint64_t bytes = 0;
    UINT node = 0;
    UINT output = 0;
    bool read = false;
  };

  ModelGraph(const Model& model, size_t firstCommand) : model_(&model), firstCommand_(firstCommand) {}
  void add(const DispatchCommand& dispatch);
  void connect(UINT node, UINT input, const DML_BUFFER_TENSOR_DESC& tensor, const BindingSource& source, bool owned);
  void write(UINT node, UINT output, const DML_BUFFER_TENSOR_DESC& tensor, const BindingSource& source);
  void finish(const std::vector<bool>& neededLater);
  UINT inputOf(const BindingSource& source, uint64_t bytes, bool owned);

  const Model* model_;
  size_t firstCommand_;
  std::vector<const DispatchCommand*> dispatches_;
  std::vector<Input> inputs_;
  std::vector<BindingSource> outputs_;
  std::vector<Written> written_;
  DML_EXECUTION_FLAGS flags_ = DML_EXECUTION_FLAG_NONE;
  std::vector<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> intermediateEdges_;
  std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges_;
  std::vector<DML_OPERATOR_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_NODE_DESC> nodeDescs_;
  std::vector<DML_GRAPH_EDGE_DESC> inputDescs_, intermediateDescs_, outputDescs_;
};

// The operations of a graph's nodes. Throws InputError for one that is refused.
std::vector<std::shared_ptr<const Operation>> operationsOf(const ModelGraph& graph, const Model& model);

}  // namespace dimple::tool
