#include "clients/dimple/bench_graph.h"

#include <algorithm>
#include <cmath>

#include "clients/dimple/bench_case.h"
#include "clients/dimple/model.h"
#include "clients/files/failure.h"
#include "core/schema/desc_text.h"
#include "core/text.h"

namespace dimple::tool {
namespace {

BenchGraph::Source in(size_t index) { return {false, index}; }
BenchGraph::Source node(size_t index) { return {true, index}; }

// Lines of operators on tensors of some sizes.
class Lines {
 public:
  Lines(std::string_view type, uint64_t rows, uint64_t columns)
      : type_(type), sizes_(cat("[", rows, ",", columns, "]")) {}

  std::string tensor() const { return cat(type_, sizes_); }
  // `second` are strides of the second operand.
  std::string binary(std::string_view name, std::string_view second = "") const {
    return cat("ELEMENT_WISE_", name, " ATensor=", tensor(), " BTensor=", tensor(), second, " OutputTensor=", tensor());
  }
  std::string unary(std::string_view name, std::string_view attributes = "") const {
    return cat(name, " InputTensor=", tensor(), " OutputTensor=", tensor(), attributes.empty() ? "" : " ", attributes);
  }
  std::string scaled(std::string_view name, double scale, double bias) const {
    return unary(cat("ELEMENT_WISE_", name), cat("ScaleBias=[", std::to_string(scale), ",", std::to_string(bias), "]"));
  }

 private:
  std::string type_, sizes_;
};

double relu(double x) { return std::max(x, 0.0); }

class Maker {
 public:
  Maker(uint64_t rows, uint64_t columns) : rows_(rows), columns_(columns) {}

  std::vector<BenchCase> make() {
    const std::string row = "{0,1}";
    const std::string column = "{1,0}";
    for (const std::string_view type : {"f32", "f16"}) {
      const Lines l(type, rows_, columns_);
      const auto name = [&](std::string_view text) { return cat(text, " ", type); };
      add(name("abs, relu"), {{l.unary("ELEMENT_WISE_ABS"), {in(0)}}, {l.unary("ACTIVATION_RELU"), {node(0)}}},
          [](uint64_t e) { return std::fabs(benchValue(0, e)); });
      add(name("mul, add"), {{l.binary("MULTIPLY"), {in(0), in(1)}}, {l.binary("ADD"), {node(0), in(2)}}},
          [](uint64_t e) { return benchValue(0, e) * benchValue(1, e) + benchValue(2, e); });
      add(name("mul, add of rows"),
          {{l.binary("MULTIPLY", row), {in(0), in(1)}}, {l.binary("ADD", row), {node(0), in(2)}}},
          [c = columns_](uint64_t e) { return benchValue(0, e) * benchValue(1, e % c) + benchValue(2, e % c); });
      add(name("mul, add of columns"),
          {{l.binary("MULTIPLY", column), {in(0), in(1)}}, {l.binary("ADD", column), {node(0), in(2)}}},
          [c = columns_](uint64_t e) { return benchValue(0, e) * benchValue(1, e / c) + benchValue(2, e / c); });
      const Lines odd(type, rows_, columns_ - 1);
      add(name("mul, add of odd rows"),
          {{odd.binary("MULTIPLY", row), {in(0), in(1)}}, {odd.binary("ADD", row), {node(0), in(2)}}},
          [c = columns_ - 1](uint64_t e) { return benchValue(0, e) * benchValue(1, e % c) + benchValue(2, e % c); });
      const std::string transposed = cat("{1,", rows_, "}");
      add(name("mul, add, transposed"),
          {{l.binary("MULTIPLY", transposed), {in(0), in(1)}}, {l.binary("ADD"), {node(0), in(2)}}},
          [r = rows_, c = columns_](uint64_t e) {
            return benchValue(0, e) * benchValue(1, e % c * r + e / c) + benchValue(2, e);
          });
      add(name("mul, add of columns, add, relu"),
          {{l.binary("MULTIPLY", column), {in(0), in(1)}},
           {l.binary("ADD", column), {node(0), in(2)}},
           {l.binary("ADD"), {node(1), in(3)}},
           {l.unary("ACTIVATION_RELU"), {node(2)}}},
          [c = columns_](uint64_t e) {
            return relu(benchValue(0, e) * benchValue(1, e / c) + benchValue(2, e / c) + benchValue(3, e));
          });
      add(name("silu of 2"), {{l.unary("ACTIVATION_SIGMOID"), {in(0)}}, {l.binary("MULTIPLY"), {in(0), node(0)}}},
          [](uint64_t e) { return benchValue(0, e) / (1 + std::exp(-benchValue(0, e))); });
      add(name("gelu of 3, erf"),
          {{l.scaled("ERF", 0.70710678, 0), {in(0)}},
           {l.scaled("IDENTITY", 0.5, 0.5), {node(0)}},
           {l.binary("MULTIPLY"), {in(0), node(1)}}},
          [](uint64_t e) { return benchValue(0, e) * 0.5 * (1 + std::erf(benchValue(0, e) * 0.70710678)); });
      add(name("gelu of 8, tanh"),
          {{l.binary("MULTIPLY"), {in(0), in(0)}},
           {l.binary("MULTIPLY"), {node(0), in(0)}},
           {l.scaled("IDENTITY", 0.044715, 0), {node(1)}},
           {l.binary("ADD"), {in(0), node(2)}},
           {l.scaled("TANH", 0.79788456, 0), {node(3)}},
           {l.scaled("IDENTITY", 1, 1), {node(4)}},
           {l.binary("MULTIPLY"), {in(0), node(5)}},
           {l.scaled("IDENTITY", 0.5, 0), {node(6)}}},
          [](uint64_t e) {
            const double x = benchValue(0, e);
            return 0.5 * x * (1 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x)));
          });
      add(name("exp, sin, pow"),
          {{l.unary("ELEMENT_WISE_EXP"), {in(0)}},
           {l.unary("ELEMENT_WISE_SIN"), {node(0)}},
           {l.unary("ELEMENT_WISE_CONSTANT_POW", "Exponent=2.5"), {node(1)}}},
          [](uint64_t e) { return std::pow(std::sin(std::exp(benchValue(0, e))), 2.5); });
      add(name("where"),
          {{cat("ELEMENT_WISE_LOGICAL_GREATER_THAN ATensor=", l.tensor(), " BTensor=", l.tensor(), " OutputTensor=u8[",
                rows_, ",", columns_, "]"),
            {in(0), in(1)}},
           {cat("ELEMENT_WISE_IF ConditionTensor=u8[", rows_, ",", columns_, "] ATensor=", l.tensor(),
                " BTensor=", l.tensor(), " OutputTensor=", l.tensor()),
            {node(0), in(0), in(2)}}},
          [](uint64_t e) { return benchValue(benchValue(0, e) > benchValue(1, e) ? 0 : 2, e); });
    }
    const Lines half("f16", rows_, columns_);
    const Lines single("f32", rows_, columns_);
    const auto cast = [](const Lines& from, const Lines& to) {
      return cat("CAST InputTensor=", from.tensor(), " OutputTensor=", to.tensor());
    };
    add("cast f16 to f32, mul, add of rows, relu, cast to f16",
        {{cast(half, single), {in(0)}},
         {single.binary("MULTIPLY", row), {node(0), in(1)}},
         {single.binary("ADD", row), {node(1), in(2)}},
         {single.unary("ACTIVATION_RELU"), {node(2)}},
         {cast(single, half), {node(3)}}},
        [c = columns_](uint64_t e) { return relu(benchValue(0, e) * benchValue(1, e % c) + benchValue(2, e % c)); });
    for (const std::string_view type : {"i32", "u8"}) {
      const Lines l(type, rows_, columns_);
      add(cat("add, max ", type), {{l.binary("ADD"), {in(0), in(1)}}, {l.binary("MAX"), {node(0), in(2)}}}, {});
    }
    return std::move(cases_);
  }

 private:
  void add(const std::string& name, const std::vector<BenchGraph::Node>& nodes,
           const std::function<double(uint64_t)>& exact) {
    struct Way {
      const char* name;
      const char* options;
    };
    for (const Way& way : {Way{"", "activations=0"}, Way{", in one pass", "activations=0,estimates=0"},
                           Way{", node by node", "activations=0,chains=0"}}) {
      BenchCase made{cat("chain: ", name, way.name)};
      made.graph = std::make_shared<BenchGraph>(nodes, way.options);
      if (exact)
        made.exact = [exact](uint64_t e) {
          const double value = exact(e);
          return std::pair(value, std::max(std::fabs(value), 0.1));
        };
      cases_.push_back(std::move(made));
    }
  }

  const uint64_t rows_, columns_;
  std::vector<BenchCase> cases_;
};

}  // namespace

BenchGraph::BenchGraph(const std::vector<Node>& nodes, std::string options) : options_(std::move(options)) {
  for (const Node& made : nodes) {
    auto parsed = parseCase(made.line);
    if (!parsed) throw RunError(parsed.error().text);
    OwnedDesc& desc = descs_.emplace_back(std::move(parsed->desc));
    sources_.push_back(made.inputs);
    size_t input = 0;
    for (const BindPoint& point : bindPoints(desc))
      for (const DML_BUFFER_TENSOR_DESC* tensor : point.tensors) {
        if (!tensor) continue;
        if (point.role != Role::Input) {
          output_ = tensor;
          continue;
        }
        const Source& source = made.inputs.at(input++);
        if (source.isNode) continue;
        inputs_.resize(std::max(inputs_.size(), source.index + 1));
        inputs_[source.index] = tensor;
      }
  }
}

CompiledOperator BenchGraph::compile(const Device& device, const std::string& name) const {
  std::vector<Com<IDMLOperator>> operators;
  std::vector<DML_OPERATOR_GRAPH_NODE_DESC> operatorNodes;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputEdges;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> innerEdges;
  std::vector<DML_GRAPH_EDGE_DESC> inputs, inner;
  for (UINT n = 0; n < descs_.size(); ++n) {
    operators.push_back(createOperator(device, descs_[n].desc(), name));
    operatorNodes.push_back({operators.back().get(), nullptr});
    for (UINT i = 0; i < sources_[n].size(); ++i) {
      const auto from = static_cast<UINT>(sources_[n][i].index);
      if (sources_[n][i].isNode)
        inner.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE,
                         &innerEdges.emplace_back(DML_INTERMEDIATE_GRAPH_EDGE_DESC{from, 0, n, i, nullptr})});
      else
        inputs.push_back(
            {DML_GRAPH_EDGE_TYPE_INPUT, &inputEdges.emplace_back(DML_INPUT_GRAPH_EDGE_DESC{from, n, i, nullptr})});
    }
  }
  std::vector<DML_GRAPH_NODE_DESC> nodes;
  for (const auto& made : operatorNodes) nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &made});
  const DML_OUTPUT_GRAPH_EDGE_DESC outputEdge{static_cast<UINT>(nodes.size() - 1), 0, 0, nullptr};
  const DML_GRAPH_EDGE_DESC output{DML_GRAPH_EDGE_TYPE_OUTPUT, &outputEdge};
  const auto count = [](const auto& list) { return static_cast<UINT>(list.size()); };
  const DML_GRAPH_DESC desc{count(inputs_), 1, count(nodes), nodes.data(), count(inputs),
                            inputs.data(),  1, &output,      count(inner), inner.data()};
  return compileGraph(device, desc, DML_EXECUTION_FLAG_NONE, name);
}

std::vector<BenchCase> benchChains(uint64_t rows, uint64_t columns) { return Maker(rows, columns).make(); }

}  // namespace dimple::tool
