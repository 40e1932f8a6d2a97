// Graphs of operations that passes edit: nodes, the values that nodes pass to each other, and the readers of each
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "core/operation.h"

namespace dimple {

struct Node;

// A tensor of a graph: an input of the graph, a constant, or the result of a node.
struct Value {
  struct Use {
    Node* node;
    uint32_t input;
  };

  Node* producer = nullptr;            // null: an input of the graph
  uint32_t index = 0;                  // of the producer's output, or of the graph's input
  std::vector<Use> uses;               // the inputs of nodes that read it, in no particular order
  std::vector<uint32_t> graphOutputs;  // the outputs of the graph that this value is

  bool isRead() const { return !uses.empty() || !graphOutputs.empty(); }
};

// Where an input of a node reads, or where an output is written inside the tensor of another value.
struct Place {
  Value* value = nullptr;  // null: an optional tensor that is absent, or a separate tensor
  uint64_t offset = 0;     // bytes from the start of its tensor

  bool operator==(const Place&) const = default;
  // The node that produces the value; null if none does.
  Node* producer() const { return value ? value->producer : nullptr; }
};

// An operation, or a constant. Graph adds, connects and erases nodes.
struct Node {
  explicit Node(std::pmr::memory_resource* memory) : inputs_(memory), useOf_(memory), outputs_(memory) {}

  std::string name;                     // "Nodes[2] (conv1, CONVOLUTION)"
  std::string label;                    // "conv1 (CONVOLUTION)"
  std::shared_ptr<const Operation> op;  // null: a constant
  std::span<const std::byte> constant;  // its bytes
  // Its results are the same at every execution, so it executes at initialization.
  bool runsAtInitialization = false;
  // Where its outputs are written in the tensors of other nodes, one entry per output. Empty: each output has a
  // separate tensor.
  std::vector<Place> targets;
  // For a node that moves elements: the inputs that already lie where it would move them to, and the outputs that
  // nothing reads.
  std::vector<bool> written, unread;  // empty: none
  // Its number among the nodes, as Graph::number() counted them.
  uint32_t index = 0;

  std::span<const Place> inputs() const { return inputs_; }
  std::span<Value> outputs() { return outputs_; }
  std::span<const Value> outputs() const { return outputs_; }
  void setOperation(Operation changed) { op = std::make_shared<const Operation>(std::move(changed)); }

 private:
  friend class Graph;
  std::pmr::vector<Place> inputs_;   // one per input of the operation
  std::pmr::vector<size_t> useOf_;   // by input: its position among the uses of its value
  std::pmr::vector<Value> outputs_;  // one per output of the operation, or the constant
  std::pmr::list<Node>::iterator self_;
};

// What is needed to bind an input or output of a graph.
struct GraphSlot {
  uint64_t bytes = 0;  // the largest TotalTensorSizeInBytes of the connected tensors; 0: nothing is bound
  uint32_t alignment = 16;
  bool ownedByDml = false;
};

// A directed acyclic graph. An input of a node is connected if and only if its operation has this input. The graph
// refers to the constants of the description that it was read from.
class Graph {
 public:
  Graph(size_t inputs, size_t outputs);

  std::pmr::list<Node>& nodes() { return nodes_; }
  const std::pmr::list<Node>& nodes() const { return nodes_; }
  std::vector<Value>& inputs() { return inputs_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  // By output of the graph; null: not connected.
  std::span<Value* const> outputs() const { return outputs_; }

  // Adds a node with an operation, or a constant if `op` is null, before another node or at the end. The caller then
  // sets its inputs or its bytes.
  Node& add(std::string name, std::string label, std::shared_ptr<const Operation> op, Node* before = nullptr);
  // Makes an input of a node read elsewhere, or nowhere.
  void connect(Node& node, uint32_t input, const Place& from);
  // Adds an input to a node, as the next input, which its operation already has.
  void addInput(Node& node, const Place& from);
  // Makes a value an output of the graph, in place of the previous one.
  void setOutput(size_t output, Value* value);
  // Replaces a value in all its readers, and in the outputs of the graph that it is.
  void replaceAllUses(Value& value, Value& by);
  // Removes a node whose outputs nothing reads.
  void erase(Node& node);

  // Sets the indices of the nodes, and returns how many nodes there are.
  uint32_t number();
  // Returns the nodes in an order in which each comes after the nodes whose results it reads, and numbers them. Nodes
  // on a cycle are left out.
  std::vector<Node*> order();

  // Whether a value is the same at every execution and known at initialization.
  bool isKnown(const Value& value) const;

  std::vector<GraphSlot> inputSlots, outputSlots;

 private:
  void disconnect(Node& node, uint32_t input);

  // Nodes lie side by side in the order in which they were added, so that a walk over a large graph reads memory in
  // order.
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>();
  std::pmr::list<Node> nodes_{memory_.get()};
  std::vector<Value> inputs_;
  std::vector<Value*> outputs_;
};

// Whether anything reads the results of a node.
bool isRead(const Node& node);

}  // namespace dimple
