#include "tests/conformance/graphs/random_graph.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/text.h"
#include "tests/conformance/fills/fills.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/generators/view_cases.h"
#include "tests/conformance/random.h"

namespace dimple::testing {
namespace {

constexpr uint64_t kMaxBytes = 1 << 16;       // of all tensors of a node
constexpr uint64_t kMaxConstantBytes = 3000;  // more than a parameter block holds

// Lines are made once: there are many graphs.
const std::vector<std::string>& linesOf(const OpSchema& schema, DataType type) {
  static std::map<std::pair<const OpSchema*, DataType>, std::vector<std::string>> all;
  const auto [found, added] = all.try_emplace({&schema, type});
  if (added) found->second = generateCases(schema, type);
  return found->second;
}

// Whether data says where an operator writes.
bool writesPlaces(const OpSchema& schema) {
  return schema.name.find("SCATTER") != schema.name.npos || schema.name.find("UNPOOLING") != schema.name.npos;
}

// Whether coordinates may share an element.
bool repeats(const DML_BUFFER_TENSOR_DESC* tensor) {
  if (!tensor || !tensor->Strides) return false;
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  for (UINT d = 0; d < tensor->DimensionCount; ++d)
    if (tensor->Sizes[d] > 1) steps.emplace_back(tensor->Strides[d], tensor->Sizes[d] - 1);
  std::ranges::sort(steps);
  uint64_t reach = 0;  // of the dimensions with smaller strides
  for (const auto& [stride, count] : steps) {
    if (stride <= reach) return true;
    reach += stride * count;
  }
  return false;
}

std::optional<TestCase> pickNode(Random& random, size_t maxTypes) {
  const OpSchema& schema = *random.pick(allSchemas());
  auto types = generatedTypes(schema);
  if (types.empty()) return {};
  if (types.size() > maxTypes) {
    // Others for each operator.
    std::rotate(types.begin(), types.begin() + static_cast<ptrdiff_t>(schema.type % types.size()), types.end());
    types.resize(maxTypes);
  }
  const auto& lines = linesOf(schema, random.pick(types));
  if (lines.empty()) return {};
  auto test = parseTestCase(random.pick(lines));
  if (!test || test->refused || test->halfPrecision || test->inPlace) return {};
  uint64_t bytes = 0;
  for (const auto* tensors : {&test->inputs, &test->outputs})
    for (const auto* tensor : *tensors) bytes += tensor ? tensor->TotalTensorSizeInBytes : 0;
  if (bytes > kMaxBytes) return {};
  for (size_t o = 0; o < test->outputs.size(); ++o)
    if (readsOutput(*test, o)) return {};
  // Indices outside are moved to where others are, and some layouts repeat them; which of the writes lasts is open.
  if (writesPlaces(schema) && (test->wildIndices || std::ranges::any_of(test->inputs, repeats))) return {};
  return std::move(*test);
}

// Whether elements of an output may keep what they were.
bool leavesElements(const TestCase& test, size_t output) {
  return test.type() == DML_OPERATOR_NONZERO_COORDINATES && output == 1;
}

uint64_t elementsOf(const DML_BUFFER_TENSOR_DESC& tensor) {
  return std::accumulate(tensor.Sizes, tensor.Sizes + tensor.DimensionCount, uint64_t{1}, std::multiplies<>());
}

// Whether elements cover every byte.
bool coversAll(const DML_BUFFER_TENSOR_DESC& tensor) {
  return elementsOf(tensor) * oracle::elementBits(tensor.DataType) == tensor.TotalTensorSizeInBytes * 8;
}

bool sameLayout(const DML_BUFFER_TENSOR_DESC& a, const DML_BUFFER_TENSOR_DESC& b) {
  return a.DataType == b.DataType &&
         std::ranges::equal(std::span(a.Sizes, a.DimensionCount), std::span(b.Sizes, b.DimensionCount)) &&
         !a.Strides == !b.Strides &&
         (!a.Strides ||
          std::ranges::equal(std::span(a.Strides, a.DimensionCount), std::span(b.Strides, b.DimensionCount)));
}

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, size_t count, size_t maxTypes) : random_(seed), count_(count), maxTypes_(maxTypes) {}

  TestGraph make() {
    while (operators_ < count_) {
      auto test = pickNode(random_, maxTypes_);
      if (!test) continue;
      const auto node = addNode(std::move(*test));
      for (uint32_t o = 0; o < graph_.nodes[node].test->outputs.size(); ++o)
        if (random_.chance(0.15)) addViewOf({GraphSource::Kind::Node, node, o});
    }
    addOutputs();
    graph_.places.resize(graph_.nodes.size());
    std::iota(graph_.places.begin(), graph_.places.end(), size_t{0});
    if (random_.chance(0.5)) random_.shuffle(std::span(graph_.places));
    return std::move(graph_);
  }

 private:
  struct Made {
    GraphSource source;
    bool constant = false;  // made of constants and owned inputs alone
    bool used = false;
  };

  uint32_t addNode(TestCase test) {
    std::vector<GraphSource> sources;
    ofConstants_ = random_.chance(0.15);
    for (size_t i = 0; i < test.inputs.size(); ++i)
      sources.push_back(test.inputs[i] ? sourceFor(test, i) : GraphSource{});
    ++operators_;
    return add(std::move(test), std::move(sources));
  }

  uint32_t add(TestCase test, std::vector<GraphSource> sources) {
    TestGraph::Node node;
    const bool constant = std::ranges::all_of(sources, [&](const GraphSource& source) { return isConstant(source); });
    node.inputs = std::move(sources);
    node.name = random_.chance(0.8) ? cat("node", graph_.nodes.size()) : std::string();
    const auto index = static_cast<uint32_t>(graph_.nodes.size());
    for (uint32_t o = 0; o < test.outputs.size(); ++o)
      if (test.outputs[o] && !leavesElements(test, o)) {
        made_.push_back({{GraphSource::Kind::Node, index, o}, constant});
        byBytes_[test.outputs[o]->TotalTensorSizeInBytes].push_back(made_.size() - 1);
      }
    node.test = std::move(test);
    graph_.nodes.push_back(std::move(node));
    constant_.push_back(constant);
    return index;
  }

  // A part of something larger, something joined or something turned, which has the elements of a fill in any order.
  std::optional<GraphSource> addViewInto(const DML_BUFFER_TENSOR_DESC& tensor, const std::vector<std::byte>& fill) {
    auto view = viewInto(random_, tensor, kMaxBytes);
    if (!view || view->test.outputs[view->output]->TotalTensorSizeInBytes != tensor.TotalTensorSizeInBytes) return {};
    std::vector<GraphSource> sources;
    for (const DML_BUFFER_TENSOR_DESC* whole : view->test.inputs) {
      sources.push_back(graph_.addInput(whole->TotalTensorSizeInBytes, fill));
      if (random_.chance(0.3)) continue;
      auto same = sameElements(*whole);
      if (!same) continue;
      sources.back() = {GraphSource::Kind::Node, add(std::move(*same), {sources.back(), sources.back()}), 0};
      markUsed(sources.back());
    }
    const auto output = static_cast<uint32_t>(view->output);
    const GraphSource made{GraphSource::Kind::Node, add(std::move(view->test), std::move(sources)), output};
    markUsed(made);
    return made;
  }

  void markUsed(const GraphSource& source) {
    const auto found = std::ranges::find(made_, source, &Made::source);
    if (found != made_.end()) found->used = true;
  }

  // Something that is joined, split or turned of what a node makes.
  void addViewOf(const GraphSource& source) {
    const DML_BUFFER_TENSOR_DESC* tensor = graph_.tensorOf(source);
    const auto found = std::ranges::find(made_, source, &Made::source);
    if (!tensor || !coversAll(*tensor) || found == made_.end()) return;
    auto test = viewOf(random_, *tensor, kMaxBytes);
    if (!test) return;
    if (random_.chance(0.7)) {
      // Nothing else reads it.
      const auto at = static_cast<size_t>(found - made_.begin());
      std::erase(byBytes_[tensor->TotalTensorSizeInBytes], at);
    }
    found->used = true;
    std::vector<GraphSource> sources{source};
    if (test->inputs.size() == 2) {
      graph_.inputs.push_back({fillBytes(*test, 1), false});
      sources.push_back({GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph_.inputs.size() - 1), 0});
    }
    add(std::move(*test), std::move(sources));
  }

  bool isConstant(const GraphSource& source) const {
    if (source.kind == GraphSource::Kind::GraphInput) return graph_.inputs[source.index].owned;
    return source.kind == GraphSource::Kind::None || constant_[source.index];
  }

  GraphSource sourceFor(const TestCase& test, size_t input) {
    const DML_BUFFER_TENSOR_DESC& tensor = *test.inputs[input];
    const bool owned = tensor.Flags == DML_TENSOR_FLAG_OWNED_BY_DML;
    // Places may come up twice in other data.
    const bool ownFill = owned || writesPlaces(test.desc.schema());
    if (!ownFill && ofConstants_) {
      const auto source = random_.chance(0.7) ? earlier(tensor) : std::nullopt;
      return source ? *source : addConstant(test, input);
    }
    if (!ownFill) {
      if (random_.chance(0.15))
        if (const auto source = addViewInto(tensor, fillBytes(test, input))) return *source;
      if (random_.chance(0.75))
        if (const auto source = earlier(tensor)) return *source;
      if (tensor.TotalTensorSizeInBytes <= kMaxConstantBytes && random_.chance(0.15)) return addConstant(test, input);
      if (!graph_.inputs.empty() && random_.chance(0.1)) {
        const auto index = static_cast<uint32_t>(random_.below(graph_.inputs.size()));
        const TestGraph::Input& shared = graph_.inputs[index];
        if (!shared.owned && shared.bytes.size() >= tensor.TotalTensorSizeInBytes)
          return {GraphSource::Kind::GraphInput, index, 0};
      }
    }
    graph_.inputs.push_back({fillBytes(test, input), owned});
    return {GraphSource::Kind::GraphInput, static_cast<uint32_t>(graph_.inputs.size() - 1), 0};
  }

  // A tensor of as many bytes, preferably a recent one.
  std::optional<GraphSource> earlier(const DML_BUFFER_TENSOR_DESC& tensor) {
    const auto found = byBytes_.find(tensor.TotalTensorSizeInBytes);
    if (found == byBytes_.end()) return {};
    std::vector<size_t> candidates = found->second;
    if (ofConstants_) std::erase_if(candidates, [&](size_t made) { return !made_[made].constant; });
    if (candidates.empty()) return {};
    const size_t among = random_.chance(0.7) ? std::min<size_t>(candidates.size(), 3) : candidates.size();
    Made& made = made_[candidates[candidates.size() - 1 - random_.below(among)]];
    const DML_BUFFER_TENSOR_DESC& from = *graph_.tensorOf(made.source);
    if (!coversAll(from) && !sameLayout(from, tensor)) return {};
    made.used = true;
    return made.source;
  }

  GraphSource addConstant(const TestCase& test, size_t input) {
    TestGraph::Node node;
    node.constant = fillBytes(test, input);
    node.name = cat("constant", graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
    constant_.push_back(true);
    return {GraphSource::Kind::Node, static_cast<uint32_t>(graph_.nodes.size() - 1), 0};
  }

  void addOutputs() {
    std::vector<bool> connected(graph_.nodes.size());
    for (const Made& made : made_)
      if (made.used) connected[made.source.index] = true;
    for (const Made& made : made_) {
      const bool needed = !made.used && (!connected[made.source.index] || random_.chance(0.8));
      if (!needed && !random_.chance(0.15)) continue;
      connected[made.source.index] = true;
      graph_.outputs.push_back(made.source);
      if (random_.chance(0.05)) graph_.outputs.push_back(made.source);
      if (random_.chance(0.02)) graph_.outputs.emplace_back();
    }
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n)
      if (!graph_.nodes[n].test && random_.chance(0.1)) graph_.outputs.push_back({GraphSource::Kind::Node, n, 0});
  }

  Random random_;
  const size_t count_;
  const size_t maxTypes_;
  size_t operators_ = 0;
  TestGraph graph_;
  std::vector<Made> made_;
  std::vector<bool> constant_;                       // by node
  bool ofConstants_ = false;                         // the node that is being added takes constants alone
  std::map<uint64_t, std::vector<size_t>> byBytes_;  // indices into made_
};

}  // namespace

std::vector<std::byte> fillBytes(const TestCase& test, size_t input) {
  std::vector<std::byte> bytes(test.inputs[input]->TotalTensorSizeInBytes);
  if (const auto array = fillInput(test, input)) oracle::write(*test.inputs[input], *array, bytes);
  return bytes;
}

const DML_BUFFER_TENSOR_DESC* TestGraph::tensorOf(const GraphSource& source) const {
  if (source.kind != GraphSource::Kind::Node || !nodes[source.index].test) return nullptr;
  return nodes[source.index].test->outputs[source.output];
}

size_t TestGraph::bytesOf(const GraphSource& source) const {
  if (source.kind == GraphSource::Kind::None) return 0;
  if (source.kind == GraphSource::Kind::GraphInput) return inputs[source.index].bytes.size();
  const auto* tensor = tensorOf(source);
  return tensor ? tensor->TotalTensorSizeInBytes : nodes[source.index].constant.size();
}

GraphSource TestGraph::addInput(size_t bytes, std::span<const std::byte> fill) {
  Input& input = inputs.emplace_back();
  for (size_t at = 0; at < bytes; ++at) input.bytes.push_back(fill[at % fill.size()]);
  return {GraphSource::Kind::GraphInput, static_cast<uint32_t>(inputs.size() - 1), 0};
}

TestGraph makeRandomGraph(uint64_t seed, size_t count, size_t maxTypes) {
  return GraphMaker(seed, count, maxTypes).make();
}

std::vector<ComPtr<IDMLOperator>> createOperators(Gpu& gpu, const TestGraph& graph, std::string& error) {
  std::vector<ComPtr<IDMLOperator>> operators(graph.nodes.size());
  for (size_t n = 0; n < operators.size(); ++n) {
    if (!graph.nodes[n].test) continue;
    const DML_OPERATOR_DESC desc = graph.nodes[n].test->desc.desc();
    const HRESULT result = gpu.device().CreateOperator(&desc, IID_PPV_ARGS(&operators[n]));
    if (SUCCEEDED(result)) continue;
    error = cat("CreateOperator: ", gpu.refusalText(result), " ", graph.nodes[n].test->line);
    return {};
  }
  return operators;
}

GraphDescription::GraphDescription(const TestGraph& graph, std::span<IDMLOperator* const> operators)
    : operatorNodes_(graph.nodes.size()), constantNodes_(graph.nodes.size()), nodes_(graph.nodes.size()) {
  const auto placeOf = [&](size_t n) { return static_cast<UINT>(graph.places[n]); };
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const TestGraph::Node& node = graph.nodes[n];
    const char* name = node.name.empty() ? nullptr : node.name.c_str();
    operatorNodes_[n] = {operators[n], name};
    constantNodes_[n] = {node.constant.data(), node.constant.size(), name};
    nodes_[graph.places[n]] = node.test ? DML_GRAPH_NODE_DESC{DML_GRAPH_NODE_TYPE_OPERATOR, &operatorNodes_[n]}
                                        : DML_GRAPH_NODE_DESC{DML_GRAPH_NODE_TYPE_CONSTANT, &constantNodes_[n]};
    for (UINT i = 0; i < node.inputs.size(); ++i) {
      const GraphSource& source = node.inputs[i];
      if (source.kind == GraphSource::Kind::GraphInput) inputEdges_.push_back({source.index, placeOf(n), i, name});
      if (source.kind == GraphSource::Kind::Node)
        intermediateEdges_.push_back({placeOf(source.index), source.output, placeOf(n), i, name});
    }
  }
  for (UINT g = 0; g < graph.outputs.size(); ++g)
    if (graph.outputs[g].kind == GraphSource::Kind::Node)
      outputEdges_.push_back({placeOf(graph.outputs[g].index), graph.outputs[g].output, g, nullptr});

  const auto wrap = [](const auto& edges, DML_GRAPH_EDGE_TYPE type, std::vector<DML_GRAPH_EDGE_DESC>& wrapped) {
    for (const auto& edge : edges) wrapped.push_back({type, &edge});
    return static_cast<UINT>(wrapped.size());
  };
  desc_.InputCount = static_cast<UINT>(graph.inputs.size());
  desc_.OutputCount = static_cast<UINT>(graph.outputs.size());
  desc_.NodeCount = static_cast<UINT>(nodes_.size());
  desc_.Nodes = nodes_.data();
  desc_.InputEdgeCount = wrap(inputEdges_, DML_GRAPH_EDGE_TYPE_INPUT, inputs_);
  desc_.InputEdges = inputs_.data();
  desc_.OutputEdgeCount = wrap(outputEdges_, DML_GRAPH_EDGE_TYPE_OUTPUT, outputs_);
  desc_.OutputEdges = outputs_.data();
  desc_.IntermediateEdgeCount = wrap(intermediateEdges_, DML_GRAPH_EDGE_TYPE_INTERMEDIATE, intermediates_);
  desc_.IntermediateEdges = intermediates_.data();
}

ComPtr<IDMLCompiledOperator> compileGraph(Gpu& gpu, const TestGraph& graph,
                                          const std::vector<ComPtr<IDMLOperator>>& operators, std::string& error) {
  std::vector<IDMLOperator*> pointers;
  for (const auto& op : operators) pointers.push_back(op.Get());
  const GraphDescription description(graph, pointers);
  ComPtr<IDMLDevice1> device;
  ComPtr<IDMLCompiledOperator> compiled;
  HRESULT result = gpu.device().QueryInterface(IID_PPV_ARGS(&device));
  if (SUCCEEDED(result))
    result = device->CompileGraph(&description.desc(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
  if (FAILED(result)) error = cat("CompileGraph: ", gpu.refusalText(result));
  return compiled;
}

}  // namespace dimple::testing
