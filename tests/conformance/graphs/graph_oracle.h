// What a graph ought to answer: its nodes, one after another, by the oracle.
#pragma once

#include <vector>

#include "tests/conformance/graphs/graph_runner.h"

namespace dimple::testing {

// The outputs of the graph as they lie in memory. Every result is rounded to its type, as nodes round it one by one.
// Attention that appends to a cache takes what the outputs for it hold (TestGraph::held), also behind CASTs.
std::vector<GraphBytes> evaluateGraph(const TestGraph& graph);

}  // namespace dimple::testing
