// Which chains of parts of a tensor become one, and which read a dimension from its end.
#include <doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/ops/chain.h"
#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

struct Neighbours {
  std::string rows = "3";
  std::vector<std::string> heads = {"4", "2"};
  std::string second = "ELEMENT_WISE_EXP";  // of the last part
  std::string factor = "f16[8]";            // what all are multiplied by, seen by each with strides
  bool ownFactor = false;                   // the last part has another one
  bool outputRead = false;                  // the first part's results are an output of the graph
};

// {rows, heads * 8} in parts of so many heads. exp(part) * factor, whose results a TILE keeps apart.
GraphBuilder neighboursOf(const Neighbours& n) {
  GraphBuilder graph;
  uint32_t all = 0;
  std::string parts;
  for (const std::string& heads : n.heads) {
    const auto columns = static_cast<uint32_t>(std::stoul(heads)) * 8;
    all += columns;
    parts += cat(parts.empty() ? "" : ",", "f16[1,", n.rows, ",", columns, "]");
  }
  const UINT split =
      graph.op(cat("SPLIT InputTensor=f16[1,", n.rows, ",", all, "] OutputTensors=(", parts, ") Axis=2"));
  graph.input(0, split);
  for (UINT i = 0; i < n.heads.size(); ++i) {
    const bool last = i + 1 == n.heads.size();
    const std::string tensor = cat("f16[", n.rows, ",", n.heads[i], ",8]");
    const UINT exp =
        graph.op(cat(last ? n.second : "ELEMENT_WISE_EXP", " InputTensor=", tensor, " OutputTensor=", tensor));
    graph.edge(split, exp, 0, i);
    const UINT product =
        graph.op(cat("ELEMENT_WISE_MULTIPLY ATensor=", tensor, " BTensor=", tensor, "{0,0,1} OutputTensor=", tensor));
    graph.edge(exp, product);
    graph.input(last && n.ownFactor ? 2 : 1, product, 1);
    if (n.outputRead && i == 0) {
      graph.output(product, i);
      continue;
    }
    const UINT tile = graph.op(
        cat("TILE InputTensor=", tensor, " OutputTensor=f16[", n.rows, ",", n.heads[i], ",16] Repeats=[1,1,2]"));
    graph.edge(product, tile);
    graph.output(tile, i);
  }
  return graph;
}

// Of a device for which chains become code.
Caps compilingCaps() {
  Caps caps;
  caps.fixesParameters = true;
  return caps;
}

std::vector<std::string> namesExecuted(const GraphBuilder& builder, std::string_view without = "estimates,views") {
  const Graph graph = builder.rewritten({compilingCaps(), optionsWithout(without)});
  std::vector<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.op) names.emplace_back(node.op->schema().name);
  return names;
}

size_t chainsOf(const Neighbours& n, std::string_view without = "estimates,views") {
  const auto names = namesExecuted(neighboursOf(n), without);
  return static_cast<size_t>(std::ranges::count(names, "CHAIN"));
}

TEST_CASE("neighbours: chains of parts that do the same become one") {
  CHECK(chainsOf({}) == 1);
  CHECK(chainsOf({.rows = "1"}) == 1);
  CHECK(chainsOf({.heads = {"4", "2", "6"}}) == 1);
  CHECK(chainsOf({.heads = {"2", "2"}}) == 1);
  CHECK(neighboursOf({}).chainedPlan("", compilingCaps()).plan.execution.size() + 1 ==
        neighboursOf({}).chainedPlan("neighbours", compilingCaps()).plan.execution.size());
}

TEST_CASE("neighbours: chains that stay apart") {
  CHECK(chainsOf({}, "estimates,views,neighbours") == 2);
  CHECK(chainsOf({.second = "ELEMENT_WISE_ABS"}) == 2);
  CHECK(chainsOf({.ownFactor = true}) == 2);
  CHECK(chainsOf({.outputRead = true}) == 2);
  // One dimension less.
  CHECK(chainsOf({.heads = {"4", "1"}}) == 2);
  // The third one differs from those before it.
  CHECK(chainsOf({.heads = {"4", "2", "6"}, .second = "ELEMENT_WISE_ABS"}) == 2);
}

// ---- parts in the opposite order ----

struct Turned {
  std::string sizes = "[3,2,8]", part = "[3,1,8]", axis = "1", joinAxis = "1";
  UINT first = 1, second = 0;  // the parts as the JOIN takes them
  bool read = false;           // what is joined is an output of the graph, too
};

GraphBuilder turnedGraph(const Turned& t) {
  GraphBuilder graph;
  const UINT split =
      graph.op(cat("SPLIT InputTensor=f16", t.sizes, " OutputTensors=(f16", t.part, ",f16", t.part, ") Axis=", t.axis));
  graph.input(0, split);
  const UINT join = graph.op(
      cat("JOIN InputTensors=(f16", t.part, ",f16", t.part, ") OutputTensor=f16", t.sizes, " Axis=", t.joinAxis));
  graph.edge(split, join, 0, t.first);
  graph.edge(split, join, 1, t.second);
  const UINT exp = graph.op(cat("ELEMENT_WISE_EXP InputTensor=f16", t.sizes, " OutputTensor=f16", t.sizes));
  graph.edge(join, exp);
  const UINT sum =
      graph.op(cat("ELEMENT_WISE_ADD ATensor=f16", t.sizes, " BTensor=f16", t.sizes, " OutputTensor=f16", t.sizes));
  graph.edge(exp, sum);
  graph.input(0, sum, 1);
  graph.output(sum, 0);
  if (t.read) graph.output(join, 1);
  return graph;
}

TEST_CASE("chains: parts that a JOIN puts together in the opposite order are read from the end") {
  CHECK(namesExecuted(turnedGraph({})) == std::vector<std::string>{"CHAIN"});
  CHECK(namesExecuted(turnedGraph({.sizes = "[3,8,2]", .part = "[3,8,1]", .axis = "2", .joinAxis = "2"})) ==
        std::vector<std::string>{"CHAIN"});
  CHECK(namesExecuted(turnedGraph({.read = true})) == std::vector<std::string>{"SPLIT", "JOIN", "CHAIN"});
  const Graph graph = turnedGraph({.sizes = "[1,3,2,8]", .part = "[1,3,1,8]", .axis = "2", .joinAxis = "2"})
                          .rewritten({compilingCaps(), optionsWithout("estimates")});
  const Operation& chain = *graph.nodes().front().op;
  CHECK(chain.as<dimple::Chain>().reversed[0] == 2);  // the dimension of size 1 is not counted
  CHECK(chain.as<dimple::Chain>().reversed[1] == 0);
  CHECK(graph.nodes().front().inputs()[0] == graph.nodes().front().inputs()[1]);
  // What it writes may be what another of its inputs is read from.
  CHECK_FALSE(chain.schema().inPlace);
}

TEST_CASE("chains: parts that are not in the opposite order") {
  const std::vector<std::string> all{"SPLIT", "JOIN", "CHAIN"};
  CHECK(namesExecuted(turnedGraph({.first = 0, .second = 1})) == all);
  CHECK(namesExecuted(turnedGraph({.first = 1, .second = 1})) == all);
  CHECK(namesExecuted(turnedGraph({.sizes = "[3,4,8]", .part = "[3,2,8]"})) == all);
}

}  // namespace
}  // namespace dimple::testing
