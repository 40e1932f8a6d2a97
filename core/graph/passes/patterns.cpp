// Nodes that spell out a layer normalization or a GELU become the operator of that name, which computes in FLOAT32 and
// rounds once.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/layout.h"
#include "core/text.h"

namespace dimple {
namespace {

DML_OPERATOR_TYPE typeOf(const Node& node) { return node.op ? node.op->schema().type : DML_OPERATOR_INVALID; }

bool isSum(const Node& node) {
  return (typeOf(node) == DML_OPERATOR_ELEMENT_WISE_ADD || typeOf(node) == DML_OPERATOR_ELEMENT_WISE_ADD1) &&
         node.op->activation().type == DML_OPERATOR_INVALID;
}

// A number of floats that an input is.
std::optional<float> floatAt(const Node& node, uint32_t input) {
  const Tensor& tensor = node.op->input(input);
  const auto number = isFloat(tensor.type) ? numberOf(node.inputs()[input], tensor) : std::nullopt;
  if (!number) return {};
  return std::bit_cast<float>(*number);
}

// Whether an input is a number that rounds to what `expected` rounds to, or to a neighbour.
bool isNumber(const Node& node, uint32_t input, double expected) {
  const auto number = floatAt(node, input);
  const double unit = node.op->input(input).type == DML_TENSOR_DATA_TYPE_FLOAT16 ? 0x1p-10 : 0x1p-22;
  return number && std::abs(static_cast<double>(*number) - expected) <= unit * std::abs(expected);
}

// Whether two inputs read the same elements.
bool readSame(const Node& a, uint32_t inputOfA, const Node& b, uint32_t inputOfB) {
  return a.inputs()[inputOfA] == b.inputs()[inputOfB] && sameLayout(a.op->input(inputOfA), b.op->input(inputOfB));
}

// The node of a type that makes an input, which sees what is made; null: another one does.
Node* producerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type) {
  Node* producer = node.inputs()[input].producer();
  const bool fits = producer && node.inputs()[input].offset == 0 && typeOf(*producer) == type &&
                    !producer->runsAtInitialization && producer->op->activation().type == DML_OPERATOR_INVALID;
  return fits ? producer : nullptr;
}

// How many inputs of nodes read a node's only output; 0 if it is an output of the graph, too.
size_t readersOf(const Node& node) {
  const Value& value = node.outputs()[0];
  return value.graphOutputs.empty() ? value.uses.size() : 0;
}

// The producer that has no other reader, and makes elements where they are read.
Node* onlyProducerAt(const Node& node, uint32_t input, DML_OPERATOR_TYPE type) {
  Node* producer = producerAt(node, input, type);
  if (!producer || readersOf(*producer) != 1) return nullptr;
  const Tensor& made = producer->op->output();
  return sameLayout(made, node.op->input(input)) || readsAsMade(made, *node.op, input) ? producer : nullptr;
}

// The input at which the only reader of a node's results reads them, of an operator of two elements.
struct Reader {
  Node* node = nullptr;
  uint32_t input = 0;
};
Reader readerOf(const Node& node) {
  Node* reader = onlyReader(node);
  if (!reader || !reader->op || reader->op->inputs().size() != 2) return {};
  const uint32_t input = reader->inputs()[0].value == node.outputs().data() ? 0 : 1;
  if (reader->inputs()[input].offset != 0 || !readsAsMade(node.op->output(), *reader->op, input)) return {};
  return {reader, input};
}

// Nodes in the order of the graph, and the operation that they become.
class Replacement {
 public:
  explicit Replacement(Graph& graph) : graph_(graph) {}

  void take(Node* node) { nodes_.push_back(node); }
  // In the place of the last of the nodes.
  template <class Desc>
  void make(DML_OPERATOR_TYPE type, const Desc& desc, const std::vector<std::pair<const Node*, uint32_t>>& inputs) {
    std::vector<Tensor> tensors;
    for (const auto& [node, input] : inputs) tensors.push_back(node ? node->op->input(input) : Tensor());
    Node& last = *nodes_.back();
    auto op = Operation::make(type, desc, std::move(tensors), {last.op->output()});
    if (!op) return;
    std::string name, label;
    for (const Node* node : nodes_) {
      name += cat(name.empty() ? "" : " with ", node->name);
      label += cat(label.empty() ? "" : " with ", node->label);
    }
    Node& made =
        graph_.add(std::move(name), std::move(label), std::make_shared<const Operation>(std::move(*op)), &last);
    for (uint32_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].first) graph_.connect(made, i, inputs[i].first->inputs()[inputs[i].second]);
    graph_.replaceAllUses(last.outputs()[0], made.outputs()[0]);
    // Readers come before what they read.
    for (size_t n = nodes_.size(); n-- > 0;) graph_.erase(*nodes_[n]);
  }

 private:
  Graph& graph_;
  std::vector<Node*> nodes_;
};

// ---- layer normalization --------------------------------------------------------------------------------------------

// (x - mean) / sqrt(variance + epsilon), and maybe * scale + bias, of means over the same axes.
class LayerNormalization {
 public:
  explicit LayerNormalization(Node& division) : division_(division) {}

  bool matches() {
    centred_ = producerAt(division_, 0, DML_OPERATOR_ELEMENT_WISE_SUBTRACT);
    root_ = producerAt(division_, 1, DML_OPERATOR_ELEMENT_WISE_SQRT);
    if (!centred_ || !root_ || readersOf(*root_) != 1 || !readsAsMade(centred_->op->output(), *division_.op, 0) ||
        root_->op->as<DML_ELEMENT_WISE_SQRT_OPERATOR_DESC>().ScaleBias)
      return false;
    mean_ = producerAt(*centred_, 1, DML_OPERATOR_REDUCE);
    return findVariance() && findSquare() && isMean(*mean_, *centred_, 1) && isMean(*variance_, division_, 1) &&
           readersOf(*mean_) == 1 && readSame(*mean_, 0, *centred_, 0) &&
           std::ranges::equal(axesOf(*mean_), axesOf(*variance_));
  }

  void replace(Graph& graph) {
    Replacement replacement(graph);
    for (Node* node : {mean_, centred_, square_, variance_, sum_, root_, &division_}) replacement.take(node);
    const auto axes = axesOf(*mean_);
    const DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC desc{
        nullptr, nullptr, nullptr, nullptr, static_cast<UINT>(axes.size()), axes.data(), TRUE, TRUE, epsilon_, nullptr};
    std::vector<std::pair<const Node*, uint32_t>> inputs{{centred_, 0}, {}, {}};
    Reader next = readerOf(division_);
    if (next.node && typeOf(*next.node) == DML_OPERATOR_ELEMENT_WISE_MULTIPLY && isParameter(next)) {
      inputs[1] = {next.node, 1 - next.input};
      replacement.take(next.node);
      next = readerOf(*next.node);
    }
    if (next.node && isSum(*next.node) && isParameter(next)) {
      inputs[2] = {next.node, 1 - next.input};
      replacement.take(next.node);
    }
    replacement.make(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, desc, inputs);
  }

 private:
  static std::span<const UINT> axesOf(const Node& mean) {
    const auto& desc = mean.op->as<DML_REDUCE_OPERATOR_DESC>();
    return {desc.Axes, desc.AxisCount};
  }

  // sqrt(variance + epsilon)
  bool findVariance() {
    sum_ = onlyProducerAt(*root_, 0, DML_OPERATOR_ELEMENT_WISE_ADD);
    if (!sum_ || !mean_) return false;
    for (uint32_t input = 0; input < 2; ++input) {
      variance_ = onlyProducerAt(*sum_, input, DML_OPERATOR_REDUCE);
      const auto epsilon = floatAt(*sum_, 1 - input);
      if (!variance_ || !epsilon) continue;
      epsilon_ = *epsilon;
      return true;
    }
    return false;
  }

  // The square of the differences, that nothing else reads but the division.
  bool findSquare() {
    const auto isSquare = [&](uint32_t input) { return square_->inputs()[input].producer() == centred_; };
    size_t readers = 2;
    if ((square_ = onlyProducerAt(*variance_, 0, DML_OPERATOR_ELEMENT_WISE_POW))) {
      if (!isSquare(0) || !isNumber(*square_, 1, 2) || square_->op->as<DML_ELEMENT_WISE_POW_OPERATOR_DESC>().ScaleBias)
        return false;
    } else if ((square_ = onlyProducerAt(*variance_, 0, DML_OPERATOR_ELEMENT_WISE_MULTIPLY))) {
      if (!isSquare(0) || !isSquare(1) || !readSame(*square_, 0, *square_, 1)) return false;
      readers = 3;
    } else {
      return false;
    }
    return readersOf(*centred_) == readers && readSame(*square_, 0, division_, 0) &&
           sameLayout(square_->op->output(), variance_->op->input(0));
  }

  // Whether a node is an average over axes, each of which `reader` sees at all elements that it is made of.
  bool isMean(const Node& mean, const Node& reader, uint32_t input) const {
    if (mean.op->as<DML_REDUCE_OPERATOR_DESC>().Function != DML_REDUCE_FUNCTION_AVERAGE) return false;
    const Tensor& made = mean.op->output();
    const Tensor& read = reader.op->input(input);
    if (made.type != read.type || !isPacked(made) || !sameSizes(reader.op->output(), mean.op->input(0))) return false;
    for (uint32_t d = 0; d < read.rank; ++d)
      if (read.sizes[d] > 1 && read.strides[d] != (made.sizes[d] > 1 ? made.strides[d] : 0)) return false;
    return true;
  }

  // What belongs to elements at the same places of all means.
  bool isParameter(const Reader& reader) const {
    const Tensor& parameter = reader.node->op->input(1 - reader.input);
    const uint32_t mask = axisMask(axesOf(*mean_));
    if (parameter.type != division_.op->output().type || parameter.rank != division_.op->output().rank) return false;
    for (uint32_t d = 0; d < parameter.rank; ++d)
      if ((mask >> d & 1) == 0 && parameter.sizes[d] > 1 && parameter.strides[d] != 0) return false;
    return true;
  }

  Node& division_;
  Node *mean_ = nullptr, *centred_ = nullptr, *square_ = nullptr, *variance_ = nullptr, *sum_ = nullptr,
       *root_ = nullptr;
  float epsilon_ = 0;
};

// ---- GELU -----------------------------------------------------------------------------------------------------------

// x * 0.5 * (1 + erf(x / sqrt(2))), multiplied in any order.
class Gelu {
 public:
  explicit Gelu(Node& error) : error_(error) {}

  bool matches() {
    if (error_.op->as<DML_ELEMENT_WISE_ERF_OPERATOR_DESC>().ScaleBias || !findArgument()) return false;
    const Reader sum = readerOf(error_);
    if (!sum.node || !isSum(*sum.node) || !isNumber(*sum.node, 1 - sum.input, 1)) return false;
    nodes_.push_back(sum.node);
    bool hasHalf = false;
    bool hasX = false;
    while (!hasHalf || !hasX) {
      const Reader next = readerOf(*nodes_.back());
      if (!next.node || typeOf(*next.node) != DML_OPERATOR_ELEMENT_WISE_MULTIPLY || !sameType(*next.node)) return false;
      const uint32_t other = 1 - next.input;
      if (!hasHalf && isNumber(*next.node, other, 0.5)) {
        hasHalf = true;
      } else if (!hasX && isX(*next.node, other)) {
        hasX = true;
      } else if (Node* half = onlyProducerAt(*next.node, other, DML_OPERATOR_ELEMENT_WISE_MULTIPLY);
                 half && !hasHalf && !hasX && isHalfOfX(*half)) {
        nodes_.insert(nodes_.begin(), half);
        hasHalf = hasX = true;
      } else {
        return false;
      }
      nodes_.push_back(next.node);
    }
    return true;
  }

  void replace(Graph& graph) {
    Replacement replacement(graph);
    for (Node* node : nodes_) replacement.take(node);
    replacement.make(DML_OPERATOR_ACTIVATION_GELU, DML_ACTIVATION_GELU_OPERATOR_DESC{}, {{argument_, x_}});
  }

 private:
  bool sameType(const Node& node) const { return node.op->output().type == error_.op->output().type; }
  bool isX(const Node& node, uint32_t input) const { return readSame(node, input, *argument_, x_); }
  bool isHalfOfX(const Node& node) const {
    return (isX(node, 0) && isNumber(node, 1, 0.5)) || (isX(node, 1) && isNumber(node, 0, 0.5));
  }

  // x / sqrt(2)
  bool findArgument() {
    if ((argument_ = onlyProducerAt(error_, 0, DML_OPERATOR_ELEMENT_WISE_DIVIDE))) {
      if (!isNumber(*argument_, 1, std::sqrt(2.0))) return false;
    } else if ((argument_ = onlyProducerAt(error_, 0, DML_OPERATOR_ELEMENT_WISE_MULTIPLY))) {
      if (isNumber(*argument_, 0, std::sqrt(0.5))) x_ = 1;
      if (!isNumber(*argument_, 1 - x_, std::sqrt(0.5))) return false;
    } else {
      return false;
    }
    nodes_ = {argument_, &error_};
    return sameLayout(argument_->op->input(x_), argument_->op->output());
  }

  Node& error_;
  Node* argument_ = nullptr;
  uint32_t x_ = 0;  // the input of `argument_` that is x
  std::vector<Node*> nodes_;
};

// Replaces what is found at nodes of a type.
template <class Pattern>
void replaceAt(Graph& graph, DML_OPERATOR_TYPE type) {
  std::vector<Node*> found;
  for (Node& node : graph.nodes())
    if (!node.runsAtInitialization && typeOf(node) == type && isFloat(node.op->output().type)) found.push_back(&node);
  for (Node* node : found)
    if (Pattern pattern(*node); pattern.matches()) pattern.replace(graph);
}

}  // namespace

void passes::findPatterns(Graph& graph, const Target&) {
  replaceAt<LayerNormalization>(graph, DML_OPERATOR_ELEMENT_WISE_DIVIDE);
  replaceAt<Gelu>(graph, DML_OPERATOR_ELEMENT_WISE_ERF);
}

}  // namespace dimple
