#include "tests/conformance/graphs/graph_oracle.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "core/text.h"
#include "tests/conformance/oracle/oracle.h"

namespace dimple::testing {
namespace {

class GraphOracle {
 public:
  explicit GraphOracle(const TestGraph& graph) : graph_(graph) {}

  std::vector<GraphBytes> outputs() {
    made_.reserve(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) made_.push_back(outputsOf(n));
    std::vector<GraphBytes> all;
    all.reserve(graph_.outputs.size());
    for (const GraphSource& source : graph_.outputs) all.push_back(memoryOf(source));
    return all;
  }

 private:
  const GraphBytes& memoryOf(const GraphSource& source) const {
    return source.kind == GraphSource::Kind::Node ? made_[source.index][source.output]
                                                  : graph_.inputs[source.index].bytes;
  }

  std::vector<GraphBytes> outputsOf(size_t n) const {
    const TestGraph::Node& node = graph_.nodes[n];
    if (!node.test) return {node.constant};
    std::vector<oracle::Array> arrays(node.test->inputs.size());
    for (size_t i = 0; i < arrays.size(); ++i)
      if (node.inputs[i].kind != GraphSource::Kind::None)
        arrays[i] = oracle::read(*node.test->inputs[i], memoryOf(node.inputs[i]));
    constexpr size_t kLengths = 11;
    if (node.test->type() == DML_OPERATOR_MULTIHEAD_ATTENTION1 && !arrays[kLengths].absent())
      for (uint32_t o = 1; o < 3; ++o) arrays.push_back(heldBy({GraphSource::Kind::Node, static_cast<uint32_t>(n), o}));
    const auto results = oracle::evaluate(node.test->desc.desc(), arrays);
    std::vector<GraphBytes> made(results.size());
    for (size_t o = 0; o < made.size(); ++o) {
      const DML_BUFFER_TENSOR_DESC* tensor = node.test->outputs[o];
      if (!tensor) continue;
      made[o].resize(tensor->TotalTensorSizeInBytes);
      oracle::write(*tensor, results[o].value, made[o]);
    }
    return made;
  }

  // What the graph's output holds that a value is, or that a CAST makes of it.
  oracle::Array heldBy(const GraphSource& value) const {
    for (size_t g = 0; g < graph_.outputs.size(); ++g) {
      const GraphSource& output = graph_.outputs[g];
      if (output.kind != GraphSource::Kind::Node) continue;
      const TestGraph::Node& node = graph_.nodes[output.index];
      const bool casts = node.test && node.test->type() == DML_OPERATOR_CAST && node.inputs[0] == value;
      if (output == value || casts) return oracle::read(*node.test->outputs[output.output], graph_.held.at(g));
    }
    throw std::invalid_argument("A cache is no output of the graph.");
  }

  const TestGraph& graph_;
  std::vector<std::vector<GraphBytes>> made_;  // by node and output
};

}  // namespace

std::vector<GraphBytes> evaluateGraph(const TestGraph& graph) { return GraphOracle(graph).outputs(); }

}  // namespace dimple::testing
