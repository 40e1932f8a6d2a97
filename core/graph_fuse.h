// Rewrites of graphs that keep their meaning and save dispatches.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "core/desc_copy.h"
#include "core/graph.h"
#include "core/op_view.h"
#include "core/ops/chain.h"

namespace dimple {

struct Caps;

// Which rewrites are made.
struct GraphOptions {
  // "activations": an activation that alone takes what an operator makes becomes its FusedActivation.
  bool activations = true;
  // "chains": element-wise nodes that hand tensors to each other execute in one pass over memory.
  bool chains = true;
  // "estimates": chains come only where they are expected to be faster than their nodes.
  bool estimates = true;
  // "constants": what depends on constants and inputs owned by DML alone executes once, at initialization.
  bool constants = true;
  // "weights": what follows a product or a convolution and is done to each of its channels goes into its weights and
  // its bias, which are computed at initialization, so that it needs "constants".
  bool weights = true;
  // "layouts": rows of tensors between nodes begin where products read them in vectors.
  bool layouts = true;
  // "views": what only moves elements becomes strides of the operators that read them or make them.
  bool views = true;
};

// All rewrites but those named in a list between commas; "all" names all, and names that there are not are ignored.
GraphOptions graphOptionsWithout(std::string_view names);

// A graph with the operators that rewriting made.
struct RewrittenGraph {
  Graph graph;
  std::deque<OwnedDesc> descs;
  std::deque<OpView> views;
  std::deque<Chain> chains;
};

// Outputs are those of the graph as given, in the tolerance of its operators.
RewrittenGraph rewriteGraph(Graph graph, const Caps& caps, const GraphOptions& options);

// The rewrites that have files of their own, in the order in which they are made.
void foldConstants(Graph& graph);
void foldWeights(RewrittenGraph& rewritten);
void chooseLayouts(RewrittenGraph& rewritten, const Caps& caps);
void foldViews(RewrittenGraph& rewritten, const Caps& caps);

// Nodes in an order in which each comes after those that it takes from.
std::vector<uint32_t> topologicalOrder(const Graph& graph);

// Takes out nodes from which nothing that remains takes anything.
void removeNodes(Graph& graph, const std::vector<bool>& removed);

}  // namespace dimple
