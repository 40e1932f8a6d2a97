// The one plan that executes all of a graph.
#pragma once

#include <vector>

#include "core/graph.h"
#include "core/plan.h"

namespace dimple {

struct GraphPlan {
  Plan plan;
  std::vector<GraphSlot> inputs, outputs;
};

// One plan of all nodes: dispatches of nodes that wait for the same ones stand side by side, tensors between nodes
// share the temporary resource by their lifetimes, and what execution needs of constants, of inputs owned by DML and of
// nodes that execute once lies in the persistent resource, once.
Result<GraphPlan> planGraph(const Graph& graph, const Caps& caps);

}  // namespace dimple
