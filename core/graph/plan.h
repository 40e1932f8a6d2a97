// The single plan that executes a whole graph.
#pragma once

#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace dimple {

struct Target;

// Makes one plan of all nodes. Dispatches of nodes that wait for the same nodes stand side by side, and tensors between
// nodes share the temporary resource by their lifetimes. What the execution needs of constants, of inputs owned by DML
// and of nodes that execute at initialization lies in the persistent resource, once each. Numbers the nodes.
Result<Plan> planGraph(Graph& graph, const Target& target);

}  // namespace dimple
