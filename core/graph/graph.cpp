#include "core/graph/graph.h"

#include <algorithm>

#include "core/graph/schedule.h"

namespace dimple {

Graph::Graph(size_t inputs, size_t outputs)
    : inputSlots(inputs), outputSlots(outputs), inputs_(inputs), outputs_(outputs) {
  for (uint32_t i = 0; i < inputs; ++i) inputs_[i].index = i;
}

Node& Graph::add(std::string name, std::string label, std::shared_ptr<const Operation> op, Node* before) {
  const auto at = nodes_.emplace(before ? before->self_ : nodes_.end(), memory_.get());
  at->self_ = at;
  at->name = std::move(name);
  at->label = std::move(label);
  at->op = std::move(op);
  at->inputs_.resize(at->op ? at->op->inputs().size() : 0);
  at->useOf_.resize(at->inputs_.size());
  at->outputs_.resize(at->op ? at->op->outputs().size() : 1);
  for (uint32_t o = 0; o < at->outputs_.size(); ++o) {
    at->outputs_[o].producer = &*at;
    at->outputs_[o].index = o;
  }
  return *at;
}

void Graph::disconnect(Node& node, uint32_t input) {
  Place& from = node.inputs_[input];
  if (!from.value) return;
  // The last use moves to the place of the one that goes.
  auto& uses = from.value->uses;
  const size_t at = node.useOf_[input];
  uses[at] = uses.back();
  uses[at].node->useOf_[uses[at].input] = at;
  uses.pop_back();
  from = {};
}

void Graph::connect(Node& node, uint32_t input, const Place& from) {
  disconnect(node, input);
  node.inputs_[input] = from;
  if (!from.value) return;
  node.useOf_[input] = from.value->uses.size();
  from.value->uses.push_back({&node, input});
}

void Graph::addInput(Node& node, const Place& from) {
  node.inputs_.emplace_back();
  node.useOf_.emplace_back();
  connect(node, static_cast<uint32_t>(node.inputs_.size() - 1), from);
}

void Graph::setOutput(size_t output, Value* value) {
  if (outputs_[output]) std::erase(outputs_[output]->graphOutputs, output);
  outputs_[output] = value;
  if (value) value->graphOutputs.push_back(static_cast<uint32_t>(output));
}

void Graph::replaceAllUses(Value& value, Value& by) {
  while (!value.uses.empty()) {
    const Value::Use use = value.uses.back();
    connect(*use.node, use.input, {&by, use.node->inputs_[use.input].offset});
  }
  while (!value.graphOutputs.empty()) setOutput(value.graphOutputs.back(), &by);
}

void Graph::erase(Node& node) {
  for (uint32_t i = 0; i < node.inputs_.size(); ++i) disconnect(node, i);
  nodes_.erase(node.self_);
}

uint32_t Graph::number() {
  uint32_t count = 0;
  for (Node& node : nodes_) node.index = count++;
  return count;
}

std::vector<Node*> Graph::order() {
  const uint32_t count = number();
  std::vector<uint32_t> waitsFor(count);
  std::vector<Node*> byIndex, order;
  for (Node& node : nodes_) byIndex.push_back(&node);
  const Consumers consumers(count, [&](const auto& visit) {
    for (const Node* node : byIndex)
      for (const Place& from : node->inputs())
        if (const Node* producer = from.producer()) visit(producer->index, node->index);
  });
  for (uint32_t n = 0; n < count; ++n)
    for (const uint32_t consumer : consumers.of(n)) ++waitsFor[consumer];
  for (Node* node : byIndex)
    if (waitsFor[node->index] == 0) order.push_back(node);
  for (size_t at = 0; at < order.size(); ++at)
    for (const uint32_t consumer : consumers.of(order[at]->index))
      if (--waitsFor[consumer] == 0) order.push_back(byIndex[consumer]);
  return order;
}

bool Graph::isKnown(const Value& value) const {
  return value.producer ? value.producer->runsAtInitialization : inputSlots[value.index].ownedByDml;
}

bool isRead(const Node& node) { return std::ranges::any_of(node.outputs(), &Value::isRead); }

}  // namespace dimple
