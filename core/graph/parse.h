// Reads what DML_GRAPH_DESC says.
#pragma once

#include <functional>
#include <memory>

#include "core/graph/graph.h"

namespace dimple {

// The operation of a node of the description, by the node's index and what its desc names as its Operator.
using FindOperation = std::function<Result<std::shared_ptr<const Operation>>(UINT node, IDMLOperator* op)>;

// Checks a description by the rules of the DML_GRAPH_DESC page. What it leaves open is as in DirectML 1.15: a graph
// input may be connected to tensors of different sizes, or to none; an output of the graph may be connected to no node,
// and of several the last counts; of a node's outputs one must be connected.
Result<Graph> parseGraph(const DML_GRAPH_DESC& desc, const FindOperation& find);

}  // namespace dimple
