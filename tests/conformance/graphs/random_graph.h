// Graphs of operators made from a seed, the same in every run, and how they are given to DirectML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/gpu.h"
#include "tests/conformance/test_case.h"

namespace dimple::testing {

// Where a tensor of a graph comes from.
struct GraphSource {
  enum class Kind : uint8_t { None, GraphInput, Node };
  Kind kind = Kind::None;
  uint32_t index = 0;   // of the graph's input, or of the node
  uint32_t output = 0;  // of the node

  bool operator==(const GraphSource&) const = default;
};

struct TestGraph {
  struct Node {
    std::optional<TestCase> test;  // none: a constant
    std::vector<std::byte> constant;
    std::vector<GraphSource> inputs;  // by the operator's input; Kind::None: absent
    std::string name;
  };
  struct Input {
    std::vector<std::byte> bytes;
    bool owned = false;
  };
  // A node takes outputs of earlier ones only.
  std::vector<Node> nodes;
  std::vector<size_t> places;  // of the nodes in the description
  std::vector<Input> inputs;
  std::vector<GraphSource> outputs;
  // By output, what its memory holds before; none, or an empty one: anything.
  std::vector<std::vector<std::byte>> held;

  // What the outputs hold that a source stands for; of a constant or an input of the graph: null.
  const DML_BUFFER_TENSOR_DESC* tensorOf(const GraphSource& source) const;
  size_t bytesOf(const GraphSource& source) const;

  // A new input of so many bytes, those of `fill` again and again.
  GraphSource addInput(size_t bytes, std::span<const std::byte> fill);
};

// What a case's input holds, as it lies in memory; what no element covers is 0.
std::vector<std::byte> fillBytes(const TestCase& test, size_t input);

// Of `count` nodes and perhaps some constants. Every operator comes up, with every data type or with so many of its
// own, in the layouts of the generated cases. Only what an earlier node has written is read.
TestGraph makeRandomGraph(uint64_t seed, size_t count, size_t maxTypes = SIZE_MAX);

// How a graph is described to DirectML; it lives as long as the graph.
class GraphDescription {
 public:
  // `operators`: one a node, null for constants.
  GraphDescription(const TestGraph& graph, std::span<IDMLOperator* const> operators);
  GraphDescription(const GraphDescription&) = delete;

  const DML_GRAPH_DESC& desc() const { return desc_; }

 private:
  std::vector<DML_OPERATOR_GRAPH_NODE_DESC> operatorNodes_;
  std::vector<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constantNodes_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> intermediateEdges_;
  std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges_;
  std::vector<DML_GRAPH_EDGE_DESC> inputs_, intermediates_, outputs_;
  DML_GRAPH_DESC desc_{};
};

// Operators of a graph's nodes, null for constants; an empty list if one cannot be created, with `error` a sentence.
std::vector<ComPtr<IDMLOperator>> createOperators(Gpu& gpu, const TestGraph& graph, std::string& error);

// Compiles the graph; null if that fails, with `error` a sentence.
ComPtr<IDMLCompiledOperator> compileGraph(Gpu& gpu, const TestGraph& graph,
                                          const std::vector<ComPtr<IDMLOperator>>& operators, std::string& error);

}  // namespace dimple::testing
