// Graphs of operations, as passes edit them: nodes, the values that they hand to each other, and who reads what.
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

// A tensor of a graph: an input of it, a constant, or what a node makes.
struct Value {
  struct Use {
    Node* node;
    uint32_t input;
  };

  Node* producer = nullptr;            // null: an input of the graph
  uint32_t index = 0;                  // of the producer's output, or of the graph's input
  std::vector<Use> uses;               // inputs of nodes that read it, in no order
  std::vector<uint32_t> graphOutputs;  // outputs of the graph that it is

  bool isRead() const { return !uses.empty() || !graphOutputs.empty(); }
};

// Where an input of a node reads, or where in another value's tensor an output is made.
struct Place {
  Value* value = nullptr;  // null: an optional tensor that is absent; or a tensor of its own
  uint64_t offset = 0;     // bytes from the start of its tensor

  bool operator==(const Place&) const = default;
  // The node that makes it; null if none does.
  Node* producer() const { return value ? value->producer : nullptr; }
};

// An operation, or a constant. A graph adds, connects and erases them.
struct Node {
  explicit Node(std::pmr::memory_resource* memory) : inputs_(memory), useOf_(memory), outputs_(memory) {}

  std::string name;                     // "Nodes[2] (conv1, CONVOLUTION)"
  std::string label;                    // "conv1 (CONVOLUTION)"
  std::shared_ptr<const Operation> op;  // null: a constant
  std::span<const std::byte> constant;  // its bytes
  // What it makes is the same at every execution, so that it executes at initialization.
  bool runsAtInitialization = false;
  // Where in the tensors of other nodes its outputs are made, one an output; empty: each has a tensor of its own.
  std::vector<Place> targets;
  // Of a node that moves elements: inputs that already lie where it would move them to, and outputs that nothing reads.
  std::vector<bool> written, unread;  // empty: none
  // Its place among the nodes, as Graph::number() counted them.
  uint32_t index = 0;

  std::span<const Place> inputs() const { return inputs_; }
  std::span<Value> outputs() { return outputs_; }
  std::span<const Value> outputs() const { return outputs_; }
  void setOperation(Operation changed) { op = std::make_shared<const Operation>(std::move(changed)); }

 private:
  friend class Graph;
  std::pmr::vector<Place> inputs_;   // one an input of the operation
  std::pmr::vector<size_t> useOf_;   // by input: where among the uses of its value it stands
  std::pmr::vector<Value> outputs_;  // one an output of the operation, or the constant
  std::pmr::list<Node>::iterator self_;
};

// What binding an input or output of a graph takes.
struct GraphSlot {
  uint64_t bytes = 0;  // the largest TotalTensorSizeInBytes of what is connected; 0: nothing is bound
  uint32_t alignment = 16;
  bool ownedByDml = false;
};

// A directed acyclic graph: every input of a node is connected if and only if its operation has it. It refers to the
// constants of the description that it was read from.
class Graph {
 public:
  Graph(size_t inputs, size_t outputs);

  std::pmr::list<Node>& nodes() { return nodes_; }
  const std::pmr::list<Node>& nodes() const { return nodes_; }
  std::vector<Value>& inputs() { return inputs_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  // By output of the graph; null: not connected.
  std::span<Value* const> outputs() const { return outputs_; }

  // Adds a node of an operation, or of a constant if `op` is null, before another or at the end. Its inputs, or its
  // bytes, are to be set.
  Node& add(std::string name, std::string label, std::shared_ptr<const Operation> op, Node* before = nullptr);
  // Lets an input of a node read elsewhere, or nowhere.
  void connect(Node& node, uint32_t input, const Place& from);
  // Lets a node read elsewhere, too: as the next input, which its operation has.
  void addInput(Node& node, const Place& from);
  // Makes a value an output of the graph, in place of what was.
  void setOutput(size_t output, Value* value);
  // Lets all that reads a value, and the outputs of the graph that it is, take another one.
  void replaceAllUses(Value& value, Value& by);
  // Takes out a node whose outputs nothing reads.
  void erase(Node& node);

  // Sets the indices of the nodes, and tells how many there are.
  uint32_t number();
  // Nodes in an order in which each comes after those that it takes from; numbers them. Those on a cycle are left out.
  std::vector<Node*> order();

  // Whether a value is the same at every execution and known at initialization.
  bool isKnown(const Value& value) const;

  std::vector<GraphSlot> inputSlots, outputSlots;

 private:
  void disconnect(Node& node, uint32_t input);

  // Nodes lie side by side in the order in which they were added, so that walks over large graphs read along memory.
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_ =
      std::make_unique<std::pmr::monotonic_buffer_resource>();
  std::pmr::list<Node> nodes_{memory_.get()};
  std::vector<Value> inputs_;
  std::vector<Value*> outputs_;
};

// Whether anything reads what a node makes.
bool isRead(const Node& node);

}  // namespace dimple
