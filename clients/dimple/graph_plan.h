// What a graph becomes, as text.
#pragma once

#include <string>

#include "core/compile.h"

namespace dimple::tool {

struct GraphPrinting {
  bool why = false;  // also the kernels that were passed over, and why
  bool dot = false;  // instead: the graph as it is described, for Graphviz
};

// `place` begins the sentence that refuses it. Throws RunError.
void printGraphPlan(const DML_GRAPH_DESC& desc, const FindOperation& find, const Target& target,
                    const std::string& place, const GraphPrinting& printing);

}  // namespace dimple::tool
