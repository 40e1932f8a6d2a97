// DML_GRAPH_DESCs for tests, without a device.
#pragma once

#include <doctest.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/desc_text.h"
#include "core/graph_fuse.h"
#include "core/graph_plan.h"
#include "tests/conformance/plan_check.h"

namespace dimple::testing {

class GraphBuilder {
 public:
  UINT inputs = 0, outputs = 0;

  // Nodes; each returns its index. `real` is the operator of a device; without it only find() knows the node's.
  UINT op(std::string_view line, const char* name = nullptr, IDMLOperator* real = nullptr) {
    auto parsed = parseCase(line);
    // Nothing is logged unless it fails, since threads build graphs: what doctest keeps for a thread does not end well
    // with MinGW-w64.
    if (!parsed) FAIL(line, ": ", parsed.error().text);
    descs_.push_back(std::move(parsed->desc));
    auto view = validate(descs_.back().desc());
    if (!view) FAIL(line, ": ", view.error().text);
    views_.push_back(std::move(*view));
    auto* handle = real ? real : reinterpret_cast<IDMLOperator*>(views_.size());
    return node(DML_GRAPH_NODE_TYPE_OPERATOR, &operators_.emplace_back(DML_OPERATOR_GRAPH_NODE_DESC{handle, name}));
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
  FindGraphOperator find() const {
    return [this](IDMLOperator* op) -> Result<const OpView*> {
      const auto number = reinterpret_cast<size_t>(op);
      if (number == 0 || number > views_.size()) return invalid("Operator is no live operator of Dimple.");
      return &views_[number - 1];
    };
  }
  Result<Graph> read() const { return readGraph(desc(), find()); }
  // The sentence that refuses the graph; empty if it is accepted.
  std::string refusal() const {
    const auto graph = read();
    return graph ? std::string() : graph.error().text;
  }
  GraphPlan plan(const Caps& caps = {}) const {
    const auto graph = read();
    REQUIRE_MESSAGE(graph, graph.error().text);
    return planOf(*graph, caps);
  }
  // The plan of the graph with all rewrites but chains and those that `without` names.
  // `padded`: rows are read together with what lies between them.
  GraphPlan rewrittenPlan(std::string_view without = "", const Caps& caps = {}, bool padded = false) const {
    GraphOptions options = graphOptionsWithout(without);
    options.chains = false;
    return planWith(options, caps, padded);
  }
  // With chains wherever they are possible.
  GraphPlan chainedPlan(std::string_view without = "", const Caps& caps = {}) const {
    GraphOptions options = graphOptionsWithout(without);
    options.estimates = false;
    return planWith(options, caps);
  }

 private:
  GraphPlan planWith(const GraphOptions& options, const Caps& caps, bool padded = false) const {
    auto graph = read();
    REQUIRE_MESSAGE(graph, graph.error().text);
    return planOf(rewriteGraph(std::move(*graph), caps, options).graph, caps, padded);
  }
  static GraphPlan planOf(const Graph& graph, const Caps& caps, bool padded = false) {
    auto planned = planGraph(graph, caps);
    REQUIRE_MESSAGE(planned, planned.error().text);
    const std::string unwritten = firstUnwritten(planned->plan, padded);
    REQUIRE_MESSAGE(unwritten.empty(), unwritten);
    return std::move(*planned);
  }

  std::deque<OwnedDesc> descs_;
  std::deque<OpView> views_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operators_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> edges_;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_EDGE_DESC> inputs_, outputs_, intermediates_;
};

}  // namespace dimple::testing
