// Graphs made of bytes that no check of the caller's has seen.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/operation.h"
#include "core/schema/desc_copy.h"
#include "tests/null/null_device.h"

namespace dimple::testing {

struct GraphOperator {
  IDMLOperator* op = nullptr;
  std::shared_ptr<const Operation> operation;
  bool readsLast = false;  // rather together with the one before it, whose output it reads
};

// Operators, on a device that executes nothing, whose tensors fit many others of them, so that graphs of them are often
// valid.
class GraphOperators {
 public:
  GraphOperators();

  IDMLDevice& device() const { return *device_.Get(); }
  std::span<const GraphOperator> all() const { return all_; }
  Result<std::shared_ptr<const Operation>> find(IDMLOperator* op) const;

 private:
  Microsoft::WRL::ComPtr<IDMLDevice> device_;
  std::deque<OwnedDesc> descs_;
  std::deque<Microsoft::WRL::ComPtr<IDMLOperator>> handles_;
  std::vector<GraphOperator> all_;
};

// Bytes behind the last row that products may read with it.
constexpr uint64_t kRowPadding = 12;

// Every pointer is null or readable for as many elements as its count says; everything else may be anything. The bytes
// choose nodes among the operators, connect what fits, and then change a little or nothing. Bytes that are missing
// count as 0.
class HostileGraph {
 public:
  HostileGraph(std::span<const uint8_t> bytes, std::span<const GraphOperator> operators);
  HostileGraph(const HostileGraph&) = delete;

  const DML_GRAPH_DESC& desc() const { return desc_; }

 private:
  uint8_t next();
  uint32_t below(uint32_t n) { return next() % n; }
  // One in n; never where the bytes have ended.
  bool chance(uint32_t n) { return !bytes_.empty() && below(n) == n - 1; }
  uint32_t number();

  void addNodes(std::span<const GraphOperator> operators);
  void addNode(const GraphOperator& op);
  void addConstant();
  void connect(UINT node, UINT input, const Tensor& tensor);
  void addOutputs();
  void change();
  void changeEdge(std::vector<DML_GRAPH_EDGE_DESC>& edges);

  std::span<const uint8_t> bytes_;
  std::deque<std::vector<std::byte>> constantBytes_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operators_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> edges_;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_EDGE_DESC> inputs_, intermediates_, outputs_;
  struct Made {
    UINT node, output;
    DML_TENSOR_DATA_TYPE type;
    uint64_t bytes;
    bool used;
  };
  std::vector<Made> made_;
  DML_GRAPH_DESC desc_{};
};

}  // namespace dimple::testing
