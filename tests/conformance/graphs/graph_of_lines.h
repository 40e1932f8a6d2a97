// Graphs written down node by node, as lines of cases.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/data_type.h"
#include "tests/conformance/graphs/random_graph.h"

namespace dimple::testing {

// Numbers as they lie in memory.
std::vector<std::byte> bytesOfNumbers(DataType type, std::span<const double> numbers);

class GraphOfLines {
 public:
  // An input of the graph, or a constant, that holds these numbers.
  GraphSource input(DataType type, std::span<const double> numbers, bool owned = false);
  GraphSource constant(DataType type, std::span<const double> numbers);
  // The same of bytes; `owned`: by DML.
  GraphSource input(std::vector<std::byte> bytes, bool owned = false);
  GraphSource constant(std::vector<std::byte> bytes);
  // A node; its inputs in their order, of Kind::None where an optional one is absent.
  GraphSource node(const std::string& line, std::vector<GraphSource> inputs);
  // `held`: what the output's memory holds before.
  void output(const GraphSource& from, std::vector<std::byte> held = {}) {
    graph_.outputs.push_back(from);
    graph_.held.push_back(std::move(held));
  }

  const TestGraph& graph() const { return graph_; }
  TestGraph take() { return std::move(graph_); }

 private:
  GraphSource add(TestGraph::Node node);

  TestGraph graph_;
};

}  // namespace dimple::testing
