#include "clients/dimple/graph_plan.h"

#include <cstdio>

#include "clients/dimple/table.h"
#include "clients/files/failure.h"
#include "core/operation.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

// Returns the text in quotes, as Graphviz takes it.
std::string dotText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

template <class Edge>
const Edge& edgeOf(const DML_GRAPH_EDGE_DESC& edge) {
  return *static_cast<const Edge*>(edge.Desc);
}

void printDot(const DML_GRAPH_DESC& desc, const FindOperation& find) {
  std::string out = "digraph {\n  node [shape=box];\n";
  for (UINT n = 0; n < desc.NodeCount; ++n) {
    std::string label = "constant";
    if (desc.Nodes[n].Type == DML_GRAPH_NODE_TYPE_OPERATOR) {
      const auto& node = *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(desc.Nodes[n].Desc);
      const auto op = find(n, node.Operator);
      label = op ? std::string((*op)->schema().name) : "operator";
      if (node.Name && *node.Name) label = cat(node.Name, " (", label, ")");
    }
    out += cat("  n", n, " [label=", dotText(label), "];\n");
  }
  for (UINT i = 0; i < desc.InputCount; ++i) out += cat("  in", i, " [label=\"input ", i, "\", shape=ellipse];\n");
  for (UINT o = 0; o < desc.OutputCount; ++o) out += cat("  out", o, " [label=\"output ", o, "\", shape=ellipse];\n");
  for (UINT e = 0; e < desc.InputEdgeCount; ++e) {
    const auto& edge = edgeOf<DML_INPUT_GRAPH_EDGE_DESC>(desc.InputEdges[e]);
    out += cat("  in", edge.GraphInputIndex, " -> n", edge.ToNodeIndex, ";\n");
  }
  for (UINT e = 0; e < desc.IntermediateEdgeCount; ++e) {
    const auto& edge = edgeOf<DML_INTERMEDIATE_GRAPH_EDGE_DESC>(desc.IntermediateEdges[e]);
    out += cat("  n", edge.FromNodeIndex, " -> n", edge.ToNodeIndex, ";\n");
  }
  for (UINT e = 0; e < desc.OutputEdgeCount; ++e) {
    const auto& edge = edgeOf<DML_OUTPUT_GRAPH_EDGE_DESC>(desc.OutputEdges[e]);
    out += cat("  n", edge.FromNodeIndex, " -> out", edge.GraphOutputIndex, ";\n");
  }
  std::printf("%s}\n", out.c_str());
}

}  // namespace

void printGraphPlan(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target,
                    const std::string& place, const GraphPrinting& printing) {
  if (printing.dot) {
    printDot(desc, find);
    return;
  }
  const auto compiled = compileGraph(desc, find, target);
  if (!compiled) throw RunError(cat(place, " cannot be compiled: ", compiled.error().text));
  const PlanTotals totals = totalsOf(compiled->plan.execution);
  std::printf("# %s: %s, %s, %llu bytes bound\n%s%s", compiled->name.c_str(),
              countText(totals.dispatches, "dispatch").c_str(), countText(totals.barriers, "barrier").c_str(),
              static_cast<unsigned long long>(totals.bytes), planText(compiled->plan).c_str(),
              printing.why ? passedOverText(compiled->plan).c_str() : "");
}

}  // namespace dimple::tool
