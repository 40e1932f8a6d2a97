// The one plan that executes all of a graph.
#pragma once

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace dimple {

struct Target;

// One plan of all nodes: dispatches of nodes that wait for the same ones stand side by side, tensors between nodes
// share the temporary resource by their lifetimes, and what execution needs of constants, of inputs owned by DML and of
// nodes that execute at initialization lies in the persistent resource, once. Numbers the nodes.
Result<Plan> planGraph(Graph& graph, const Target& target);

}  // namespace dimple
