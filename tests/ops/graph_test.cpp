// Graphs answer what their nodes answer one by one: bit for bit, unless they are rewritten.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "core/graph_fuse.h"
#include "core/text.h"
#include "tests/core/plan_check.h"
#include "tests/gpu_test.h"
#include "tests/ops/generator.h"
#include "tests/ops/random.h"
#include "tests/ops/random_chain.h"
#include "tests/ops/random_graph.h"
#include "tests/ops/selection.h"
#include "tests/ops/step_runner.h"
#include "tests/oracle/oracle.h"

namespace dimple::testing {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytesOf(std::span<const std::byte> span) { return {span.begin(), span.end()}; }

// By output of the graph.
std::string runWhole(Gpu& gpu, StepMemory& memory, const TestGraph& graph, std::vector<Bytes>& results) {
  std::string error;
  StepRunner::Step step;
  {
    // A compiled graph needs its operators no more.
    const auto operators = createOperators(gpu, graph, error);
    if (error.empty()) step.op = compileGraph(gpu, graph, operators, error);
  }
  if (!step.op) return error;
  StepRunner runner(gpu, memory);
  std::vector<bool> read(graph.inputs.size());
  for (const auto& node : graph.nodes)
    for (const GraphSource& source : node.inputs)
      if (source.kind == GraphSource::Kind::GraphInput) read[source.index] = true;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    step.inputs.push_back(
        {read[i] ? runner.upload(graph.inputs[i].bytes) : StepRunner::Range{}, graph.inputs[i].owned});
  for (const GraphSource& output : graph.outputs)
    step.outputs.push_back(runner.allocate((graph.bytesOf(output) + 3) / 4 * 4));
  const auto outputs = step.outputs;
  runner.add(std::move(step));
  // Twice, so that what the first execution leaves in the temporary resource is met.
  if (error = runner.run(2); !error.empty()) return error;
  for (const StepRunner::Range& range : outputs)
    results.push_back(range.bytes ? bytesOf(runner.result(range)) : Bytes{});
  return {};
}

std::string runNodes(Gpu& gpu, StepMemory& memory, const TestGraph& graph, std::vector<Bytes>& results) {
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
      Bytes bytes = node.constant;
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
    results.push_back(
        source.kind == GraphSource::Kind::None ? Bytes{} : bytesOf(runner.result(made[source.index][source.output])));
  return {};
}

// A sentence if elements differ.
std::string compareElements(const DML_BUFFER_TENSOR_DESC& tensor, const Bytes& whole, const Bytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  for (size_t i = 0; i < a.whole.size(); ++i)
    if (a.whole[i] != b.whole[i]) return cat("element ", i, " is ", a.whole[i], ", alone ", b.whole[i], ".");
  for (size_t i = 0; i < a.real.size(); ++i) {
    if (std::isnan(a.real[i]) && std::isnan(b.real[i])) continue;
    if (a.real[i] != b.real[i] || std::signbit(a.real[i]) != std::signbit(b.real[i]))
      return cat("element ", i, " is ", std::to_string(a.real[i]), ", alone ", std::to_string(b.real[i]), ".");
  }
  return {};
}

// While it lives, graphs are compiled without these rewrites.
class Without {
 public:
  explicit Without(const char* names) { set(names); }
  ~Without() { set(""); }
  Without(const Without&) = delete;

 private:
  static void set(const char* names) {
#ifdef _WIN32
    _putenv_s("DIMPLE_GRAPH_WITHOUT", names);
#else
    setenv("DIMPLE_GRAPH_WITHOUT", names, 1);
#endif
  }
};

// A sentence if elements differ by more than a part of their magnitude: what rounding a FLOAT16 once more may do.
std::string compareRoughly(const DML_BUFFER_TENSOR_DESC& tensor, const Bytes& whole, const Bytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  const double part = tensor.DataType == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-9 : 0x1p-20;
  for (size_t i = 0; i < a.real.size(); ++i) {
    if (std::isnan(a.real[i]) && std::isnan(b.real[i])) continue;
    if (a.real[i] == b.real[i]) continue;
    if (!(std::abs(a.real[i] - b.real[i]) <= part * std::abs(b.real[i]) + oracle::smallestNormal(tensor.DataType)))
      return cat("element ", i, " is ", std::to_string(a.real[i]), ", alone ", std::to_string(b.real[i]), ".");
  }
  return {};
}

// A case of an operator that can fuse, followed by an activation of its output.
std::optional<TestGraph> activated(const std::string& line, const char* activation) {
  auto test = parseTestCase(line);
  if (!test || test->refused || test->halfPrecision || test->inPlace || test->outputs.size() != 1) return {};
  const std::string tensor = formatTensor(*test->outputs[0]);
  auto second = parseTestCase(cat(activation, " InputTensor=", tensor, " OutputTensor=", tensor));
  if (!second) return {};
  TestGraph graph;
  TestGraph::Node first;
  for (size_t i = 0; i < test->inputs.size(); ++i) {
    first.inputs.emplace_back();
    if (!test->inputs[i]) continue;
    first.inputs.back() = {GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph.inputs.size()), 0};
    graph.inputs.push_back({fillBytes(*test, i), test->inputs[i]->Flags == DML_TENSOR_FLAG_OWNED_BY_DML});
  }
  first.test = std::move(*test);
  TestGraph::Node last;
  last.inputs.push_back({GraphSource::Kind::Node, 0, 0});
  last.test = std::move(*second);
  graph.nodes.push_back(std::move(first));
  graph.nodes.push_back(std::move(last));
  graph.places = {0, 1};
  graph.outputs.push_back({GraphSource::Kind::Node, 1, 0});
  return graph;
}

// What rewriting does to graphs.
struct Rewrites {
  size_t given = 0;      // operators
  size_t executing = 0;  // of those that are left
  size_t once = 0;       // the same at initialization
  size_t targets = 0;    // outputs that are made in a part of another node's
  size_t offsets = 0;    // inputs that are read in a part of another node's
};

// Counts them, and checks the plan for a device that binds where `caps` says.
void examine(const TestGraph& graph, const Caps& caps, Rewrites& rewrites,
             std::string_view without = "activations,weights") {
  std::vector<OpView> views;
  std::vector<IDMLOperator*> handles;
  for (const TestGraph::Node& node : graph.nodes)
    if (node.test) views.push_back(*validate(node.test->desc.desc()));
  size_t next = 0;
  for (const TestGraph::Node& node : graph.nodes)
    handles.push_back(node.test ? reinterpret_cast<IDMLOperator*>(&views[next++]) : nullptr);
  const GraphDescription description(graph, handles);
  auto read = readGraph(description.desc(),
                        [](IDMLOperator* op) -> Result<const OpView*> { return reinterpret_cast<const OpView*>(op); });
  REQUIRE(read);
  const RewrittenGraph rewritten = rewriteGraph(std::move(*read), caps, graphOptionsWithout(without));
  for (const TestGraph::Node& node : graph.nodes) rewrites.given += node.test.has_value();
  for (const GraphNode& node : rewritten.graph.nodes) {
    rewrites.once += node.op && node.once;
    rewrites.executing += node.op && !node.once;
    for (const GraphSource& target : node.targets) rewrites.targets += target.kind == GraphSource::Kind::Node;
    for (const GraphSource& source : node.inputs) rewrites.offsets += source.offset != 0;
  }
  const auto planned = planGraph(rewritten.graph, caps);
  REQUIRE_MESSAGE(planned, planned.error().text);
  const std::string unwritten = firstUnwritten(planned->plan, true);
  CHECK_MESSAGE(unwritten.empty(), unwritten);
  for (const auto* dispatches : {&planned->plan.initialization, &planned->plan.execution})
    for (const Dispatch& dispatch : *dispatches)
      for (const BufferRange& range : dispatch.buffers) CHECK(range.offset % caps.bufferOffsetAlignment == 0);
}

size_t numberOr(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

using Compare = std::string (*)(const DML_BUFFER_TENSOR_DESC&, const Bytes&, const Bytes&);

std::string check(Gpu& gpu, StepMemory& memory, const TestGraph& graph, Compare compare) {
  std::vector<Bytes> whole, alone;
  if (const std::string error = runWhole(gpu, memory, graph, whole); !error.empty()) return cat("As a graph: ", error);
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

GPU_TEST_CASE("graphs: random ones answer what their nodes answer") {
  const Without others("activations,weights,estimates");
  StepMemory memory;
  // On libvkd3d a pipeline takes a fraction of a second.
  const size_t wanted = currentBackend() == DIMPLE_BACKEND_D3D12 ? 50 : 200;
  const size_t graphs = numberOr("DIMPLE_TEST_GRAPHS", std::max<size_t>(8, wanted / selection().sample));
  size_t nodes = 0;
  size_t failed = 0;
  Rewrites rewrites, coarse;
  Caps caps, coarseCaps;
  caps.features = coarseCaps.features = ~uint32_t{0};
  coarseCaps.bufferOffsetAlignment = 256;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    // 1 to 300 nodes, few more often than many.
    Random random(seed);
    const auto count = static_cast<size_t>(std::exp(random.unit() * std::log(301.0)));
    const TestGraph graph = makeRandomGraph(seed, count);
    nodes += graph.nodes.size();
    examine(graph, caps, rewrites);
    examine(graph, coarseCaps, coarse);
    const std::string failure = check(gpu, memory, graph, compareElements);
    if (failure.empty()) continue;
    if (failed++ < 5)
      std::printf("graph of seed %llu, %zu nodes: %s\n", static_cast<unsigned long long>(seed), count, failure.c_str());
  }
  CHECK(failed == 0);
  const size_t removed = rewrites.given - rewrites.once - rewrites.executing;
  std::printf(
      "graphs: seeds 1 to %zu, %zu nodes, %zu failed; %zu execute once, %zu removed, %zu targets, %zu offsets\n",
      graphs, nodes, failed, rewrites.once, removed, rewrites.targets, rewrites.offsets);
  if (graphs < 50) return;
  for (const size_t made : {rewrites.once, removed, rewrites.targets, rewrites.offsets}) CHECK(made >= graphs / 2);
  CHECK(coarse.offsets + coarse.targets < rewrites.offsets + rewrites.targets);
}

GPU_TEST_CASE("graphs: chains of element-wise nodes answer what their nodes answer") {
  const Without others("activations,constants,weights,views,estimates");
  StepMemory memory;
  const auto& lines = chainLines();
  size_t nodes = 0;
  size_t left = 0;
  size_t failed = 0;
  // On libvkd3d a pipeline takes a fraction of a second.
  const size_t step = selection().sample * (currentBackend() == DIMPLE_BACKEND_D3D12 ? 8 : 1);
  for (size_t first = 0; first < lines.size(); first += step) {
    Random random(first + 1);
    const TestGraph graph = makeRandomChain(first + 1, random.size(3, 12), first);
    nodes += graph.nodes.size();
    left += rewrittenNodes(graph);
    const std::string failure = check(gpu, memory, graph, compareElements);
    if (failure.empty()) continue;
    if (failed++ < 5) std::printf("chain %zu, %s: %s\n", first, lines[first].name.c_str(), failure.c_str());
  }
  CHECK(failed == 0);
  // Most nodes come to stand in chains.
  CHECK(left * 2 < nodes);
  std::printf("graphs: chains of %zu operators with their types, %zu nodes, %zu after rewriting, %zu failed\n",
              lines.size(), nodes, left, failed);
}

GPU_TEST_CASE("graphs: an activation in the operator before it answers what it answers alone") {
  StepMemory memory;
  size_t graphs = 0;
  for (const OpSchema* schema : allSchemas()) {
    const auto count = [&](const auto& isWanted) { return std::ranges::count_if(schema->fields, isWanted); };
    if (count([](const Field& f) { return f.type == FieldType::Operator; }) != 1 ||
        count([](const Field& f) { return f.role == Role::Output; }) != 1)
      continue;
    for (const DataType type : {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16}) {
      const auto types = generatedTypes(*schema);
      if (std::ranges::find(types, type) == types.end()) continue;
      size_t taken = 0;
      for (const std::string& line : generateCases(*schema, type)) {
        if (line.find("FusedActivation") != line.npos) continue;
        const auto graph = activated(line, taken % 2 ? "ACTIVATION_TANH" : "ACTIVATION_RELU");
        if (!graph) continue;
        const std::string failure = check(gpu, memory, *graph, compareRoughly);
        CHECK_MESSAGE(failure.empty(), failure);
        ++graphs;
        if (++taken == 4) break;
      }
      CHECK_MESSAGE(taken == 4, std::string(schema->name));
    }
  }
  CHECK(graphs >= 40);
}

// A sentence if elements differ by more than a small part of the largest: sums of weights that were multiplied first.
std::string compareWithLargest(const DML_BUFFER_TENSOR_DESC& tensor, const Bytes& whole, const Bytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  const double part = tensor.DataType == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-9 : 0x1p-18;
  double largest = 0;
  for (const double value : b.real) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return "all elements are 0.";
  for (size_t i = 0; i < a.real.size(); ++i)
    if (!(std::abs(a.real[i] - b.real[i]) <= part * largest))
      return cat("element ", i, " is ", std::to_string(a.real[i]), ", alone ", std::to_string(b.real[i]), ".");
  return {};
}

// A line with the tensors of these fields owned by DML.
std::string withOwned(std::string line, std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) {
    const size_t at = line.find(cat(" ", field, "="));
    if (at == line.npos) continue;
    const size_t end = std::min(line.find(' ', at + 1), line.size());
    if (line[end - 1] != '!') line.insert(end, "!");
  }
  return line;
}

// The lines that follow a product or convolution whose results are `y`: operators of each of its channels.
std::vector<std::string> followersOf(const DML_BUFFER_TENSOR_DESC& y, size_t channel, size_t kind) {
  std::vector<uint32_t> ones(y.DimensionCount, 1), sizes(y.Sizes, y.Sizes + y.DimensionCount), strides(ones.size());
  ones[channel] = sizes[channel];
  strides[channel] = 1;
  const auto text = [](std::span<const uint32_t> values) {
    std::string out;
    for (const uint32_t value : values) out += cat(out.empty() ? "" : ",", value);
    return out;
  };
  const std::string type(shortTypeName(y.DataType));
  const std::string tensor = formatTensor(y);
  const std::string vector = cat(type, "[", text(ones), "]!");
  const std::string spread = cat(type, "[", text(sizes), "]{", text(strides), "}!");
  const std::string normalize =
      cat("BATCH_NORMALIZATION InputTensor=", tensor, " MeanTensor=", vector, " VarianceTensor=", vector,
          " ScaleTensor=", vector, " BiasTensor=", vector, " OutputTensor=", tensor, " Spatial=1 Epsilon=0.01");
  const std::string multiply =
      cat("ELEMENT_WISE_MULTIPLY ATensor=", tensor, " BTensor=", spread, " OutputTensor=", tensor);
  const std::string add = cat("ELEMENT_WISE_ADD ATensor=", spread, " BTensor=", tensor, " OutputTensor=", tensor);
  switch (kind) {
    case 0:
      return {normalize};
    case 1:
      return {add};
    case 2:
      return {multiply, add};
    default:
      return {cat(normalize, " FusedActivation=RELU")};
  }
}

GPU_TEST_CASE("graphs: what goes into weights answers what it answers alone") {
  StepMemory memory;
  for (const char* name : {"CONVOLUTION", "GEMM"}) {
    const OpSchema& schema = *findSchema(std::string_view(name));
    size_t taken = 0;
    for (const std::string& line : generateCases(schema, DML_TENSOR_DATA_TYPE_FLOAT32)) {
      if (taken == 16) break;
      if (line.find("FusedActivation") != line.npos || line.find("fill=special") != line.npos) continue;
      auto first = parseTestCase(withOwned(line, {"FilterTensor", "BiasTensor", "BTensor", "CTensor"}));
      if (!first || first->refused || first->halfPrecision || first->inPlace) continue;
      TestGraph graph;
      const DML_BUFFER_TENSOR_DESC& y = *first->outputs[0];
      const auto followers = followersOf(y, schema.type == DML_OPERATOR_GEMM ? y.DimensionCount - 1 : 1, taken % 4);
      const auto add = [&](TestCase test, size_t follows) {
        TestGraph::Node node;
        for (size_t i = 0; i < test.inputs.size(); ++i) {
          node.inputs.emplace_back();
          if (!test.inputs[i]) continue;
          if (!graph.nodes.empty() && i == follows) {
            node.inputs.back() = {GraphSource::Kind::Node, static_cast<uint32_t>(graph.nodes.size() - 1), 0};
            continue;
          }
          node.inputs.back() = {GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph.inputs.size()), 0};
          graph.inputs.push_back({fillBytes(test, i), test.inputs[i]->Flags == DML_TENSOR_FLAG_OWNED_BY_DML});
        }
        node.test = std::move(test);
        graph.places.push_back(graph.nodes.size());
        graph.nodes.push_back(std::move(node));
      };
      add(std::move(*first), 0);
      for (const std::string& follower : followers) {
        auto test = parseTestCase(follower);
        REQUIRE(test);
        const bool second = test->inputs[0]->Flags == DML_TENSOR_FLAG_OWNED_BY_DML;
        add(std::move(*test), second);
      }
      graph.outputs.push_back({GraphSource::Kind::Node, static_cast<uint32_t>(graph.nodes.size() - 1), 0});
      Rewrites rewrites;
      examine(graph, {}, rewrites, "");
      if (rewrites.executing > 1) continue;  // a layout or attributes that it leaves alone
      const std::string failure = check(gpu, memory, graph, compareWithLargest);
      CHECK_MESSAGE(failure.empty(), failure);
      ++taken;
    }
    CHECK_MESSAGE(taken == 16, name);
  }
}

}  // namespace
}  // namespace dimple::testing
