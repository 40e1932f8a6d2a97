// Graphs on a device beside their nodes one by one, and their plans without a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/plan/plan.h"
#include "core/target.h"
#include "tests/conformance/graphs/random_graph.h"
#include "tests/conformance/graphs/step_runner.h"

namespace dimple::testing {

using GraphBytes = std::vector<std::byte>;

// Says how an element differs, with as many digits as tell FLOAT32 apart.
std::string differing(size_t index, double whole, double alone);

// Whether a tensor is what it should be: a sentence if not, else an empty one.
using CompareBytes = std::string (*)(const DML_BUFFER_TENSOR_DESC&, const GraphBytes& whole, const GraphBytes& alone);
// Every element, bit for bit but for the bits of NaN.
std::string compareElements(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone);
// To a part of an element's magnitude: what rounding a FLOAT16 once more may do.
std::string compareRoughly(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone);
// To a small part of the largest magnitude: sums of weights that were multiplied first.
std::string compareWithLargest(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone);

// Runs the graph twice; `results` are its outputs. A sentence if that fails.
std::string runGraph(Gpu& gpu, StepMemory& memory, const TestGraph& graph, std::vector<GraphBytes>& results);

// The same with a graph that was compiled, whose description differs from this one in nothing but what inputs hold.
std::string runCompiled(Gpu& gpu, StepMemory& memory, const TestGraph& graph, ComPtr<IDMLCompiledOperator> compiled,
                        std::vector<GraphBytes>& results);
// The graph compiled; null if that fails, and a sentence in `error`.
ComPtr<IDMLCompiledOperator> compiledOf(Gpu& gpu, const TestGraph& graph, std::string& error);

// Runs the graph, and its nodes one by one. A sentence if outputs differ, or something fails.
std::string compareWithNodes(Gpu& gpu, StepMemory& memory, const TestGraph& graph, CompareBytes compare);

// What becomes of a graph.
struct PlannedGraph {
  Graph rewritten;
  Plan plan;
};
Result<PlannedGraph> planTestGraph(const TestGraph& graph, const Target& target);

}  // namespace dimple::testing
