#include "tests/conformance/graphs/graph_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/parse.h"
#include "core/graph/pass.h"
#include "core/graph/plan.h"
#include "core/text.h"
#include "tests/conformance/oracle/oracle.h"

namespace dimple::testing {
namespace {

GraphBytes bytesOf(std::span<const std::byte> span) { return {span.begin(), span.end()}; }

std::string runNodes(Gpu& gpu, StepMemory& memory, const TestGraph& graph, std::vector<GraphBytes>& results) {
  std::string error;
  const auto operators = createOperators(gpu, graph, error);
  if (!error.empty()) return error;
  StepRunner runner(gpu, memory);
  std::vector<StepRunner::Range> inputs;
  std::vector<std::vector<StepRunner::Range>> made;
  for (const auto& input : graph.inputs) inputs.push_back(runner.upload(input.bytes));
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const TestGraph::Node& node = graph.nodes[n];
    if (!node.test) {
      GraphBytes bytes = node.constant;
      bytes.resize((bytes.size() + 3) / 4 * 4);
      made.push_back({runner.upload(bytes)});
      continue;
    }
    StepRunner::Step step;
    if (const HRESULT result =
            gpu.device().CompileOperator(operators[n].Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&step.op));
        FAILED(result))
      return cat("CompileOperator: ", gpu.refusalText(result), " ", node.test->line);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const GraphSource& source = node.inputs[i];
      StepRunner::Range range;
      if (source.kind == GraphSource::Kind::GraphInput) range = inputs[source.index];
      if (source.kind == GraphSource::Kind::Node) range = made[source.index][source.output];
      step.inputs.push_back(
          {range, node.test->inputs[i] && node.test->inputs[i]->Flags == DML_TENSOR_FLAG_OWNED_BY_DML});
    }
    for (const auto* tensor : node.test->outputs)
      step.outputs.push_back(tensor ? runner.allocate(tensor->TotalTensorSizeInBytes) : StepRunner::Range{});
    made.push_back(step.outputs);
    runner.add(std::move(step));
  }
  if (error = runner.run(); !error.empty()) return error;
  for (const GraphSource& source : graph.outputs)
    results.push_back(source.kind == GraphSource::Kind::None
                          ? GraphBytes{}
                          : bytesOf(runner.result(made[source.index][source.output])));
  return {};
}

}  // namespace

std::string differing(size_t index, double whole, double alone) {
  char text[100];
  std::snprintf(text, sizeof text, "element %zu is %.9g, alone %.9g.", index, whole, alone);
  return text;
}

std::string compareElements(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  for (size_t i = 0; i < a.whole.size(); ++i)
    if (a.whole[i] != b.whole[i]) return cat("element ", i, " is ", a.whole[i], ", alone ", b.whole[i], ".");
  for (size_t i = 0; i < a.real.size(); ++i) {
    if (std::isnan(a.real[i]) && std::isnan(b.real[i])) continue;
    if (a.real[i] != b.real[i] || std::signbit(a.real[i]) != std::signbit(b.real[i]))
      return differing(i, a.real[i], b.real[i]);
  }
  return {};
}

std::string compareRoughly(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  const double part = tensor.DataType == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-9 : 0x1p-20;
  for (size_t i = 0; i < a.real.size(); ++i) {
    if (std::isnan(a.real[i]) && std::isnan(b.real[i])) continue;
    if (a.real[i] == b.real[i]) continue;
    if (!(std::abs(a.real[i] - b.real[i]) <= part * std::abs(b.real[i]) + oracle::smallestNormal(tensor.DataType)))
      return differing(i, a.real[i], b.real[i]);
  }
  return {};
}

std::string compareWithLargest(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  const double part = tensor.DataType == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-9 : 0x1p-18;
  double largest = 0;
  for (const double value : b.real)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return "no element is a number that is not 0.";
  const auto isSame = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  for (size_t i = 0; i < a.real.size(); ++i)
    if (!isSame(a.real[i], b.real[i]) && !(std::abs(a.real[i] - b.real[i]) <= part * largest))
      return differing(i, a.real[i], b.real[i]);
  return {};
}

std::string runGraph(Gpu& gpu, StepMemory& memory, const TestGraph& graph, std::vector<GraphBytes>& results) {
  std::string error;
  const ComPtr<IDMLCompiledOperator> compiled = compiledOf(gpu, graph, error);
  return compiled ? runCompiled(gpu, memory, graph, compiled, results) : error;
}

ComPtr<IDMLCompiledOperator> compiledOf(Gpu& gpu, const TestGraph& graph, std::string& error) {
  // A compiled graph needs its operators no more.
  const auto operators = createOperators(gpu, graph, error);
  if (!error.empty()) return {};
  return compileGraph(gpu, graph, operators, error);
}

std::string runCompiled(Gpu& gpu, StepMemory& memory, const TestGraph& graph, ComPtr<IDMLCompiledOperator> compiled,
                        std::vector<GraphBytes>& results) {
  StepRunner::Step step;
  step.op = std::move(compiled);
  StepRunner runner(gpu, memory);
  std::vector<bool> read(graph.inputs.size());
  for (const auto& node : graph.nodes)
    for (const GraphSource& source : node.inputs)
      if (source.kind == GraphSource::Kind::GraphInput) read[source.index] = true;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    step.inputs.push_back(
        {read[i] ? runner.upload(graph.inputs[i].bytes) : StepRunner::Range{}, graph.inputs[i].owned});
  for (size_t g = 0; g < graph.outputs.size(); ++g) {
    GraphBytes held = g < graph.held.size() ? graph.held[g] : GraphBytes();
    const size_t bytes = (graph.bytesOf(graph.outputs[g]) + 3) / 4 * 4;
    if (!held.empty()) held.resize(bytes);
    step.outputs.push_back(held.empty() ? runner.allocate(bytes) : runner.allocateHolding(held));
  }
  const auto outputs = step.outputs;
  runner.add(std::move(step));
  // Twice, so that what the first execution leaves in the temporary resource is met.
  if (std::string error = runner.run(2); !error.empty()) return error;
  for (const StepRunner::Range& range : outputs)
    results.push_back(range.bytes ? bytesOf(runner.result(range)) : GraphBytes{});
  return {};
}

std::string compareWithNodes(Gpu& gpu, StepMemory& memory, const TestGraph& graph, CompareBytes compare) {
  std::vector<GraphBytes> whole, alone;
  if (const std::string error = runGraph(gpu, memory, graph, whole); !error.empty()) return cat("As a graph: ", error);
  if (const std::string error = runNodes(gpu, memory, graph, alone); !error.empty())
    return cat("Node by node: ", error);
  for (size_t g = 0; g < graph.outputs.size(); ++g) {
    const GraphSource& source = graph.outputs[g];
    const auto* tensor = graph.tensorOf(source);
    const std::string difference = tensor                 ? compare(*tensor, whole[g], alone[g])
                                   : whole[g] == alone[g] ? std::string()
                                                          : "the constant differs.";
    if (!difference.empty())
      return cat("Output ", g, " of the graph, ", tensor ? graph.nodes[source.index].test->line : "a constant", ": ",
                 difference);
  }
  return {};
}

Result<PlannedGraph> planTestGraph(const TestGraph& graph, const Target& target) {
  std::vector<std::shared_ptr<const Operation>> operations(graph.nodes.size());  // by place in the description
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!graph.nodes[n].test) continue;
    auto op = Operation::parse(graph.nodes[n].test->desc.desc());
    TRY(op);
    operations[graph.places[n]] = std::make_shared<const Operation>(std::move(*op));
  }
  const auto find = [&](UINT node, IDMLOperator*) -> Result<std::shared_ptr<const Operation>> {
    return operations[node];
  };
  const std::vector<IDMLOperator*> none(graph.nodes.size());
  auto parsed = parseGraph(GraphDescription(graph, none).desc(), find);
  TRY(parsed);
  runPasses(*parsed, target);
  auto plan = planGraph(*parsed, target);
  TRY(plan);
  return PlannedGraph{std::move(*parsed), std::move(*plan)};
}

}  // namespace dimple::testing
