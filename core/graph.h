// Graphs of operators: what DML_GRAPH_DESC says, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/directml.h"
#include "core/result.h"

namespace dimple {

class OpView;

// Where a tensor of a graph comes from.
struct GraphSource {
  enum class Kind : uint8_t { None, GraphInput, Node };
  Kind kind = Kind::None;
  uint32_t index = 0;   // of the graph's input, or of the node
  uint32_t output = 0;  // of the node
  uint64_t offset = 0;  // bytes from the start of its tensor

  bool operator==(const GraphSource&) const = default;
};

struct GraphNode {
  std::string name;                     // "Nodes[2] (conv1, CONVOLUTION)"
  std::string label;                    // "conv1 (CONVOLUTION)"
  const OpView* op = nullptr;           // null: a constant
  std::span<const std::byte> constant;  // its bytes
  std::vector<GraphSource> inputs;      // one an input of the operator
  bool once = false;                    // what it makes is the same at every execution: it executes at initialization
  // Where in the tensor of another node its outputs are made; Kind::None: each is a tensor of its own.
  std::vector<GraphSource> targets;  // one an output, or empty: none
  // Of a node that moves elements: inputs that already lie where it would move them to, and outputs that nothing reads.
  std::vector<bool> written, unread;  // empty: none
};

// What binding a graph takes.
struct GraphSlot {
  uint64_t bytes = 0;  // the largest TotalTensorSizeInBytes of what is connected; 0: nothing is bound
  uint32_t alignment = 16;
  bool ownedByDml = false;
};

// A graph that has passed the checks: a directed acyclic one, every input of a node connected if and only if its
// operator has it. It refers to the description's constants and operators.
struct Graph {
  uint32_t inputCount = 0;
  std::vector<GraphSlot> inputSlots, outputSlots;
  std::vector<GraphNode> nodes;
  std::vector<GraphSource> outputs;  // one an output of the graph; Kind::None: not connected
};

// The operator behind an interface pointer, which lives as long as the graph.
using FindGraphOperator = std::function<Result<const OpView*>(IDMLOperator*)>;

// Checks a description by the rules of the DML_GRAPH_DESC page. What it leaves open is as in DirectML 1.15: a graph
// input may be connected to tensors of different sizes, or to none; an output of the graph may be connected to no node,
// and of several the last counts; of a node's outputs one must be connected.
Result<Graph> readGraph(const DML_GRAPH_DESC& desc, const FindGraphOperator& find);

}  // namespace dimple
