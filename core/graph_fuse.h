// Rewrites of graphs that keep their meaning and save dispatches.
#pragma once

#include <deque>
#include <string_view>

#include "core/desc_copy.h"
#include "core/graph.h"

namespace dimple {

// Which rewrites are made.
struct GraphOptions {
  // "activations": an activation that alone takes what an operator makes becomes its FusedActivation.
  bool activations = true;
};

// All rewrites but those named in a list between commas; names that there are not are ignored.
GraphOptions graphOptionsWithout(std::string_view names);

// A graph with the operators that rewriting made.
struct RewrittenGraph {
  Graph graph;
  std::deque<OwnedDesc> descs;
  std::deque<OpView> views;
};

// Outputs are those of the graph as given, in the tolerance of its operators.
RewrittenGraph rewriteGraph(Graph graph, const GraphOptions& options);

}  // namespace dimple
