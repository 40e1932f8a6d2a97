// DML_GRAPH_DESCs for tests, without a device.
#pragma once

#include <doctest.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/parse.h"
#include "core/graph/pass.h"
#include "core/graph/plan.h"
#include "core/schema/desc_text.h"
#include "core/target.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/plan_check.h"

namespace dimple::testing {

// A graph's plan, and what binding it takes.
struct GraphPlan {
  Plan plan;
  std::vector<GraphSlot> inputs, outputs;
};

class GraphBuilder {
 public:
  UINT inputs = 0, outputs = 0;

  // Nodes; each returns its index. `real` is the operator of a device; without it only find() knows the node's, by its
  // index.
  UINT op(std::string_view line, const char* name = nullptr, IDMLOperator* real = nullptr) {
    auto parsed = parseCase(line);
    // Nothing is logged unless it fails, since threads build graphs: what doctest keeps for a thread does not end well
    // with MinGW-w64.
    if (!parsed) FAIL(line, ": ", parsed.error().text);
    descs_.push_back(std::move(parsed->desc));
    auto view = Operation::parse(descs_.back().desc());
    if (!view) FAIL(line, ": ", view.error().text);
    operations_.resize(nodes_.size() + 1);
    operations_.back() = std::make_shared<const Operation>(std::move(*view));
    return node(DML_GRAPH_NODE_TYPE_OPERATOR, &operators_.emplace_back(DML_OPERATOR_GRAPH_NODE_DESC{real, name}));
  }
  UINT constant(const void* data, size_t bytes, const char* name = nullptr) {
    return node(DML_GRAPH_NODE_TYPE_CONSTANT,
                &constants_.emplace_back(DML_CONSTANT_DATA_GRAPH_NODE_DESC{data, bytes, name}));
  }
  UINT node(DML_GRAPH_NODE_TYPE type, const void* desc) {
    nodes_.push_back({type, desc});
    return static_cast<UINT>(nodes_.size() - 1);
  }

  void input(UINT graphInput, UINT to, UINT index = 0, const char* name = nullptr) {
    const auto& edge = inputEdges_.emplace_back(DML_INPUT_GRAPH_EDGE_DESC{graphInput, to, index, name});
    inputs_.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
    if (graphInput < 1000) inputs = std::max(inputs, graphInput + 1);
  }
  void edge(UINT from, UINT to, UINT index = 0, UINT output = 0, const char* name = nullptr) {
    const auto& made = edges_.emplace_back(DML_INTERMEDIATE_GRAPH_EDGE_DESC{from, output, to, index, name});
    intermediates_.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &made});
  }
  void output(UINT from, UINT graphOutput, UINT index = 0, const char* name = nullptr) {
    const auto& edge = outputEdges_.emplace_back(DML_OUTPUT_GRAPH_EDGE_DESC{from, index, graphOutput, name});
    outputs_.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &edge});
    if (graphOutput < 1000) outputs = std::max(outputs, graphOutput + 1);
  }

  DML_GRAPH_DESC desc() const {
    const auto count = [](const auto& items) { return static_cast<UINT>(items.size()); };
    return {inputs,         outputs,         count(nodes_),   nodes_.data(),         count(inputs_),
            inputs_.data(), count(outputs_), outputs_.data(), count(intermediates_), intermediates_.data()};
  }
  FindOperation find() const {
    return [this](UINT node, IDMLOperator*) -> Result<std::shared_ptr<const Operation>> {
      if (node >= operations_.size() || !operations_[node]) return invalid("Operator is not a live Dimple operator.");
      return operations_[node];
    };
  }
  Result<Graph> read() const { return parseGraph(desc(), find()); }
  // What passes make of it.
  Graph rewritten(const Target& target) const {
    auto graph = read();
    REQUIRE_MESSAGE(graph, graph.error().text);
    runPasses(*graph, target);
    return std::move(*graph);
  }
  // The sentence that refuses the graph; empty if it is accepted.
  std::string refusal() const {
    const auto graph = read();
    return graph ? std::string() : graph.error().text;
  }
  GraphPlan plan(const Caps& caps = {}) const {
    auto graph = read();
    REQUIRE_MESSAGE(graph, graph.error().text);
    return planOf(*graph, caps);
  }
  // The plan of the graph after all passes but chains and those that `without` names.
  // `padded`: rows are read together with what lies between them.
  GraphPlan rewrittenPlan(std::string_view without = "", const Caps& caps = {}, bool padded = false) const {
    return planWith({caps, optionsWithout(cat("chains,", without))}, padded);
  }
  // With chains wherever they are possible.
  GraphPlan chainedPlan(std::string_view without = "", const Caps& caps = {}) const {
    return planWith({caps, optionsWithout(cat("estimates,", without))});
  }

 private:
  GraphPlan planWith(const Target& target, bool padded = false) const {
    Graph graph = rewritten(target);
    return planOf(graph, target, padded);
  }
  static GraphPlan planOf(Graph& graph, const Target& target, bool padded = false) {
    auto planned = planGraph(graph, target);
    REQUIRE_MESSAGE(planned, planned.error().text);
    const std::string unwritten = firstUnwritten(*planned, padded ? UINT64_MAX : 0);
    REQUIRE_MESSAGE(unwritten.empty(), unwritten);
    return {std::move(*planned), graph.inputSlots, graph.outputSlots};
  }

  std::deque<OwnedDesc> descs_;
  std::vector<std::shared_ptr<const Operation>> operations_;  // by node; null: a constant
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operators_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> edges_;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_EDGE_DESC> inputs_, outputs_, intermediates_;
};

}  // namespace dimple::testing
