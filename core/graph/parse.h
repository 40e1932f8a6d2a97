// Reads a DML_GRAPH_DESC.
#pragma once

#include <functional>
#include <memory>

#include "core/graph/graph.h"

namespace dimple {

// Returns the operation of a node of the description, for the node's index and the Operator that its desc names.
using FindOperation = std::function<Result<std::shared_ptr<const Operation>>(UINT node, IDMLOperator* op)>;

// Checks a description by the rules of the DML_GRAPH_DESC page. Where the page leaves a case open, the rule is that of
// DirectML 1.15: a graph input may be connected to tensors of different sizes, or to none; an output of the graph need
// not be connected to a node; if several edges lead to an output, the last one counts; and at least one output of each
// node must be connected.
Result<Graph> parseGraph(const DML_GRAPH_DESC& desc, const FindOperation& find);

}  // namespace dimple
