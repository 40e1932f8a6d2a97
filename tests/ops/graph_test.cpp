// Graphs answer what their nodes answer one by one: bit for bit, unless they are rewritten.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "core/text.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/graphs/random_chain.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/plan_check.h"
#include "tests/conformance/random.h"
#include "tests/conformance/selection.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// A case of an operator that can fuse, followed by an activation of its output with these attributes.
std::optional<TestGraph> activated(const std::string& line, const char* activation, std::string_view attributes) {
  auto test = parseTestCase(line);
  if (!test || test->refused || test->halfPrecision || test->inPlace || test->outputs.size() != 1) return {};
  const std::string tensor = formatTensor(*test->outputs[0]);
  auto second = parseTestCase(cat(activation, " InputTensor=", tensor, " OutputTensor=", tensor, attributes));
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
  size_t ofChains = 0;   // of these
};

// Counts them, and checks the plan for a device that binds where `caps` says.
void examine(const TestGraph& graph, const Caps& caps, Rewrites& rewrites,
             std::string_view without = "activations,weights") {
  const auto planned = planTestGraph(graph, {caps, optionsWithout(without)});
  REQUIRE_MESSAGE(planned, planned.error().text);
  for (const TestGraph::Node& node : graph.nodes) rewrites.given += node.test.has_value();
  for (const Node& node : planned->rewritten.nodes()) {
    rewrites.once += node.op && node.runsAtInitialization;
    rewrites.executing += node.op && !node.runsAtInitialization;
    const auto targets =
        static_cast<size_t>(std::ranges::count_if(node.targets, [](const Place& p) { return p.value != nullptr; }));
    const auto offsets =
        static_cast<size_t>(std::ranges::count_if(node.inputs(), [](const Place& p) { return p.offset != 0; }));
    rewrites.targets += targets;
    rewrites.offsets += offsets;
    if (node.op && node.op->schema().type == DML_OPERATOR_INVALID) rewrites.ofChains += targets + offsets;
  }
  const std::string unwritten = firstUnwritten(planned->plan, UINT64_MAX);
  CHECK_MESSAGE(unwritten.empty(), unwritten);
  for (const auto* dispatches : {&planned->plan.initialization, &planned->plan.execution})
    for (const Dispatch& dispatch : *dispatches)
      for (const BufferRange& range : dispatch.buffers) CHECK(range.offset % caps.bufferOffsetAlignment == 0);
}

size_t numberOr(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

GPU_TEST_CASE("graphs: random ones answer what their nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  Gpu& chosen = sharedGpu(leaveOut("activations,channels,epilogues,weights,estimates"));
  StepMemory memory;
  const size_t graphs = numberOr("DIMPLE_TEST_GRAPHS", std::max<size_t>(8, 100 / selection().sample));
  // On libvkd3d a pipeline takes a fraction of a second, which is what graphs of all types take their time for.
  const size_t maxTypes = currentBackend() == DIMPLE_BACKEND_D3D12 ? 2 : SIZE_MAX;
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
    const TestGraph graph = makeRandomGraph(seed, count, maxTypes);
    nodes += graph.nodes.size();
    examine(graph, caps, rewrites);
    examine(graph, coarseCaps, coarse);
    const std::string failure = compareWithNodes(chosen, memory, graph, compareElements);
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
  constexpr const char* kOthers = "activations,constants,weights,estimates";
  Gpu& chosen = sharedGpu(leaveOut(kOthers));
  StepMemory memory;
  const auto& lines = chainLines();
  size_t graphs = 0;
  size_t failed = 0;
  Rewrites rewrites;
  // A fault in one function shows in its chains alone. On Vulkan it shows in operators as chains of one, too, and each
  // chain is compiled.
  const size_t share = currentBackend() == DIMPLE_BACKEND_D3D12 ? 1 : 4;
  const size_t step = selection().sample * numberOr("DIMPLE_TEST_CHAINS", share);
  for (size_t first = 0; first < lines.size(); first += step) {
    Random random(first + 1);
    const TestGraph graph = makeRandomChain(first + 1, random.size(3, 12), first);
    ++graphs;
    examine(graph, {}, rewrites, kOthers);
    const std::string failure = compareWithNodes(chosen, memory, graph, compareElements);
    if (failure.empty()) continue;
    if (failed++ < 5) std::printf("chain %zu, %s: %s\n", first, lines[first].name.c_str(), failure.c_str());
  }
  CHECK(failed == 0);
  // Of some, most nodes that move nothing come to stand in chains.
  if (rewrites.given >= 50) CHECK(rewrites.executing * 3 < rewrites.given * 2);
  if (graphs >= 50) CHECK(rewrites.ofChains >= graphs / 16);
  std::printf(
      "graphs: chains of %zu operators with their types, %zu nodes, %zu after rewriting, %zu parts of tensors, %zu "
      "failed\n",
      lines.size(), rewrites.given, rewrites.executing, rewrites.ofChains, failed);
}

GPU_TEST_CASE("graphs: an activation in the operator before it answers what it answers alone" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
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
        const std::string clip = cat(" MinMaxDataType=", dataTypeName(type), " Min=-0.25 Max=1.5");
        const auto graph = taken % 3 == 2 ? activated(line, "ELEMENT_WISE_CLIP1", clip)
                                          : activated(line, taken % 3 ? "ACTIVATION_TANH" : "ACTIVATION_RELU", "");
        if (!graph) continue;
        const std::string failure = compareWithNodes(gpu, memory, *graph, compareRoughly);
        CHECK_MESSAGE(failure.empty(), failure);
        ++graphs;
        if (++taken == 4) break;
      }
      CHECK_MESSAGE(taken == 4, std::string(schema->name));
    }
  }
  CHECK(graphs >= 40);
}

// A convolution of one place behind what makes `places` of each channel.
TestGraph pointwise(const std::string& type, const std::string& maker, uint32_t height, uint32_t width) {
  TestGraph graph;
  const std::string places = cat(",", height, ",", width, "]");
  const auto add = [&](const std::string& line) {
    auto test = parseTestCase(line);
    REQUIRE(test);
    TestGraph::Node node;
    for (size_t i = 0; i < test->inputs.size(); ++i) {
      node.inputs.emplace_back();
      if (!test->inputs[i]) continue;
      if (i == 0 && !graph.nodes.empty())
        node.inputs.back() = {GraphSource::Kind::Node, static_cast<uint32_t>(graph.nodes.size() - 1), 0};
      else
        node.inputs.back() = graph.addInput(fillBytes(*test, i).size(), fillBytes(*test, i));
    }
    node.test = std::move(*test);
    graph.places.push_back(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
  };
  const std::string window = "DimensionCount=2 Strides=[1,1] StartPadding=[1,1] EndPadding=[1,1]";
  const std::string tensor = cat(type, "[2,64", places);
  if (maker == "pooling")
    add(cat("MAX_POOLING InputTensor=", tensor, " OutputTensor=", tensor, " ", window, " WindowSize=[3,3]"));
  else
    add(cat("CONVOLUTION InputTensor=", type, "[2,40", places, " FilterTensor=", type, "[64,40,3,3] OutputTensor=",
            tensor, " ", window, " Dilations=[1,1] OutputPadding=[0,0] GroupCount=1 Mode=1 Direction=0"));
  add(cat("CONVOLUTION InputTensor=", tensor, " FilterTensor=", type, "[80,64,1,1] OutputTensor=", type, "[2,80",
          places,
          " DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] "
          "GroupCount=1 Mode=1 Direction=0"));
  graph.outputs.push_back({GraphSource::Kind::Node, 1, 0});
  return graph;
}

GPU_TEST_CASE("graphs: rows that begin at vectors answer what packed ones answer") {
  StepMemory memory;
  for (const char* type : {"f32", "f16"})
    for (const char* maker : {"pooling", "convolution"})
      for (const auto& [height, width] : {std::pair(7u, 7u), {5u, 13u}, {9u, 14u}}) {
        const TestGraph graph = pointwise(type, maker, height, width);
        const auto planned = planTestGraph(graph, {});
        REQUIRE(planned);
        const Tensor& rows = std::next(planned->rewritten.nodes().begin())->op->input(0);
        CHECK(rows.strides[1] % 4 == 0);
        CHECK(rows.strides[1] > height * width);
        const std::string failure = compareWithNodes(gpu, memory, graph, compareWithLargest);
        CHECK_MESSAGE(failure.empty(), failure);
      }
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
  const std::string one = cat(type, "[", text(sizes), "]{", text(std::vector<uint32_t>(sizes.size())), "}!");
  switch (kind) {
    case 9:
      return {cat("ELEMENT_WISE_DIVIDE ATensor=", tensor, " BTensor=", one, " OutputTensor=", tensor),
              cat("ELEMENT_WISE_ADD ATensor=", tensor, " BTensor=", spread.substr(0, spread.size() - 1),
                  " OutputTensor=", tensor)};
    case 4:
      return {normalize, multiply};
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

// An operator, and lines each of which takes what the one before it makes: as its first tensor, or as its second where
// DML owns the first.
TestGraph withFollowers(TestCase first, const std::vector<std::string>& followers) {
  TestGraph graph;
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
  add(std::move(first), 0);
  for (const std::string& follower : followers) {
    auto test = parseTestCase(follower);
    REQUIRE(test);
    const bool second = test->inputs[0]->Flags == DML_TENSOR_FLAG_OWNED_BY_DML;
    add(std::move(*test), second);
  }
  graph.outputs.push_back({GraphSource::Kind::Node, static_cast<uint32_t>(graph.nodes.size() - 1), 0});
  return graph;
}

// Cases of a product or convolution that nodes may follow.
std::vector<TestCase> followedCases(const OpSchema& schema, DataType type) {
  std::vector<TestCase> cases;
  for (const std::string& line : generateCases(schema, type)) {
    if (line.find("FusedActivation") != line.npos || line.find("fill=special") != line.npos) continue;
    auto test = parseTestCase(withOwned(line, {"FilterTensor", "BiasTensor", "BTensor", "CTensor"}));
    if (test && !test->refused && !test->halfPrecision && !test->inPlace) cases.push_back(std::move(*test));
  }
  return cases;
}

size_t channelDimension(const TestCase& test) {
  return test.type() == DML_OPERATOR_GEMM ? test.outputs[0]->DimensionCount - 1 : 1;
}

GPU_TEST_CASE("graphs: what goes into weights answers what it answers alone" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  StepMemory memory;
  for (const char* name : {"CONVOLUTION", "GEMM"}) {
    size_t taken = 0;
    for (TestCase& first : followedCases(*findSchema(std::string_view(name)), DML_TENSOR_DATA_TYPE_FLOAT32)) {
      if (taken == 16) break;
      const auto followers = followersOf(*first.outputs[0], channelDimension(first), taken % 4);
      const TestGraph graph = withFollowers(std::move(first), followers);
      Rewrites rewrites;
      examine(graph, {}, rewrites, "epilogues");
      if (rewrites.executing > 1) continue;  // a layout or attributes that it leaves alone
      const std::string failure = compareWithNodes(gpu, memory, graph, compareWithLargest);
      CHECK_MESSAGE(failure.empty(), failure);
      ++taken;
    }
    CHECK_MESSAGE(taken == 16, name);
  }
}

// What follows a case, and what is done to each channel of it before a tensor is added, if that is.
constexpr size_t kEpilogueKinds = 10;  // the last but one is a sum alone, the last a quotient and a broadcast sum
TestGraph withEpilogue(TestCase first, size_t kind) {
  std::vector<std::string> followers;
  if (kind != 8)
    followers = followersOf(*first.outputs[0], channelDimension(first), kind < 5 || kind == 9 ? kind : kind - 4);
  const std::string tensor = formatTensor(*first.outputs[0]);
  if (kind >= 4 && kind < 9 && kind != 7)
    followers.push_back(cat("ELEMENT_WISE_ADD1 ATensor=", tensor, " BTensor=", tensor, " OutputTensor=", tensor,
                            kind == 6 ? " FusedActivation=RELU" : ""));
  return withFollowers(std::move(first), followers);
}

// Bit for bit; but normalizations of FLOAT16 divide their factor first, and GPUs may divide and take roots otherwise in
// other kernels.
CompareBytes comparisonOf(size_t kind) {
  const bool normalizes = kind % 4 == 0 || kind == 3 || kind == 7;
  return normalizes && kind != 8 ? compareWithLargest : compareElements;
}

// Whether the nodes become one.
bool isEpilogue(const TestGraph& graph) {
  Rewrites rewrites;
  examine(graph, {}, rewrites, "weights,activations,chains");
  return rewrites.executing == 1;
}

GPU_TEST_CASE("graphs: an epilogue answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  Gpu& chosen = sharedGpu(leaveOut("weights,activations"));
  StepMemory memory;
  for (const char* name : {"CONVOLUTION", "GEMM"})
    for (const DataType type : {DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_FLOAT32}) {
      // FLOAT32 convolutions have no parameters of channels but those in their weights.
      const bool onlySums = type == DML_TENSOR_DATA_TYPE_FLOAT32 && std::string_view(name) == "CONVOLUTION";
      const size_t most = onlySums ? 12 : 3;
      std::array<size_t, kEpilogueKinds> taken{};
      size_t next = 0;
      for (TestCase& first : followedCases(*findSchema(std::string_view(name)), type)) {
        const size_t kind = onlySums ? 8 : next++ % kEpilogueKinds;
        if (taken[kind] == most) continue;
        const TestGraph graph = withEpilogue(std::move(first), kind);
        if (!isEpilogue(graph)) continue;  // a layout or attributes that it leaves alone
        const std::string failure = compareWithNodes(chosen, memory, graph, comparisonOf(kind));
        CHECK_MESSAGE(failure.empty(), failure);
        ++taken[kind];
      }
      // Of products alone C may be what is added.
      const size_t kinds = kEpilogueKinds - (std::string_view(name) == "CONVOLUTION" ? 1 : 0);
      for (size_t kind = onlySums ? 8 : 0; kind < kinds; ++kind) CHECK_MESSAGE(taken[kind] >= 2, cat(name, " ", kind));
    }
}

// Whatever is sampled, tensors are added to results that subgroups share the depth of and store in vectors: rows and
// channels side by side.
constexpr std::string_view kAdded[] = {
    "GEMM ATensor=f16[40,264] BTensor=f16[264,72]! OutputTensor=f16[40,72] Alpha=1 fill=int",
    "CONVOLUTION InputTensor=f16[1,64,7,7]{3136,1,448,64} FilterTensor=f16[48,64,3,3]! BiasTensor=f16[1,48,1,1]! "
    "OutputTensor=f16[1,48,7,7]{2352,1,336,48} Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] "
    "OutputPadding=[0,0] GroupCount=1 fill=int",
};
constexpr size_t kOnlyAdds = 8;  // a kind of epilogue

// The cases that are made for kernels of products, of which devices have others.
GPU_TEST_CASE("graphs: epilogues of products of any kernel answer what their nodes answer") {
  auto lines = readCaseFile(DIMPLE_TEST_SOURCE_DIR "/conformance/cases/product.txt");
  const auto transformed = readCaseFile(DIMPLE_TEST_SOURCE_DIR "/conformance/cases/winograd.txt");
  REQUIRE(lines);
  REQUIRE(transformed);
  lines->insert(lines->end(), transformed->begin(), transformed->end());
  Gpu& chosen = sharedGpu(leaveOut("weights,activations"));
  StepMemory memory;
  const auto follow = [&](TestCase first, size_t kind) {
    const TestGraph graph = withEpilogue(std::move(first), kind);
    if (!isEpilogue(graph)) return false;
    const std::string failure = compareWithNodes(chosen, memory, graph, comparisonOf(kind));
    CHECK_MESSAGE(failure.empty(), failure);
    return true;
  };
  for (const std::string_view line : kAdded) {
    auto test = parseTestCase(line);
    REQUIRE(test);
    CHECK(follow(std::move(*test), kOnlyAdds));
  }
  size_t taken = 0;
  for (size_t i = 0; i < lines->size(); i += std::min<size_t>(selection().sample, 4)) {
    const std::string& line = (*lines)[i];
    if (line.find("FusedActivation") != line.npos || line.find("fill=special") != line.npos) continue;
    auto test = parseTestCase(withOwned(line, {"FilterTensor", "BiasTensor", "BTensor", "CTensor"}));
    if (!test || test->halfPrecision) continue;
    if (test->type() != DML_OPERATOR_GEMM && test->type() != DML_OPERATOR_CONVOLUTION) continue;
    const bool onlySums =
        test->type() == DML_OPERATOR_CONVOLUTION && test->outputs[0]->DataType == DML_TENSOR_DATA_TYPE_FLOAT32;
    taken += follow(std::move(*test), onlySums ? kOnlyAdds : i % kEpilogueKinds);
  }
  CHECK(taken >= 12);
}

// Of tiles whose sums the invocations finish that hold them, where the device is known to place them so: rows and
// channels side by side.
constexpr std::string_view kHeld[] = {
    "GEMM ATensor=f16[2048,64] BTensor=f16[64,1024]! OutputTensor=f16[2048,1024] Alpha=1",
    "CONVOLUTION InputTensor=f16[8,16,56,56]{50176,1,896,16} FilterTensor=f16[128,16,3,3]! BiasTensor=f16[1,128,1,1]! "
    "OutputTensor=f16[8,128,28,28]{100352,1,3584,128} Strides=[2,2] Dilations=[1,1] StartPadding=[1,1] "
    "EndPadding=[0,0] "
    "OutputPadding=[0,0] GroupCount=1",
};

GPU_TEST_CASE("graphs: sums that stay in registers answer what those in shared memory answer" *
              leftOut(Run::QuickD3d12, "nothing stays in registers there")) {
  Gpu& shared = sharedGpu("places=0");
  StepMemory memory, memoryOfShared;
  constexpr size_t kAddsWithRelu = 6;
  for (const std::string_view line : kHeld)
    for (const size_t kind : {kOnlyAdds, kAddsWithRelu}) {
      auto test = parseTestCase(line);
      REQUIRE(test);
      const TestGraph graph = withEpilogue(std::move(*test), kind);
      std::vector<GraphBytes> results, others;
      std::string failure = runGraph(gpu, memory, graph, results);
      if (failure.empty()) failure = runGraph(shared, memoryOfShared, graph, others);
      REQUIRE_MESSAGE(failure.empty(), failure);
      failure = compareElements(*graph.tensorOf(graph.outputs[0]), results[0], others[0]);
      CHECK_MESSAGE(failure.empty(), cat(line, ", kind ", kind, ": ", failure));
    }
  CHECK(shared.takeMessages().empty());
}

}  // namespace
}  // namespace dimple::testing
