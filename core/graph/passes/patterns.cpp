// Nodes that spell out a normalization of rows or a GELU become the operator of that name, which computes in FLOAT32
// and rounds once.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/layout.h"

namespace dimple {
namespace {

// ---- normalization
// ----------------------------------------------------------------------------------------------------

std::span<const UINT> axesOf(const Node& mean) {
  const auto& desc = mean.op->as<DML_REDUCE_OPERATOR_DESC>();
  return {desc.Axes, desc.AxisCount};
}

// Whether a node is an average over axes, each of which `reader` sees at all elements that it is made of.
bool isMean(const Node& mean, const Node& reader, uint32_t input) {
  if (mean.op->as<DML_REDUCE_OPERATOR_DESC>().Function != DML_REDUCE_FUNCTION_AVERAGE) return false;
  const Tensor& made = mean.op->output();
  const Tensor& read = reader.op->input(input);
  if (made.type != read.type || !isPacked(made) || !sameSizes(reader.op->output(), mean.op->input(0))) return false;
  for (uint32_t d = 0; d < read.rank; ++d)
    if (read.sizes[d] > 1 && read.strides[d] != (made.sizes[d] > 1 ? made.strides[d] : 0)) return false;
  return true;
}

// x / sqrt(mean of x^2 + epsilon), where x may be what is left of elements without their mean, and maybe * scale +
// bias, of means over the same axes. It is found at the node that divides, or multiplies with the reciprocal.
class Normalization {
 public:
  explicit Normalization(Node& scaling) : scaling_(scaling) {}

  bool matches() {
    if (!findRoot() || !findVariance() || !findSquare() || !isMean(*variance_, scaling_, 1 - x_) ||
        !sameSizes(scaling_.op->input(x_), scaling_.op->output()))
      return false;
    findMean();
    return true;
  }

  void replace(Graph& graph) {
    std::vector<Node*> nodes;
    for (Node* node : {mean_, centred_, square_, variance_, sum_, root_, reciprocal_, &scaling_})
      if (node) nodes.push_back(node);
    std::vector<Taken> inputs{{mean_ ? centred_ : &scaling_, mean_ ? 0 : x_}, {}, {}};
    Reader next = readerOf(scaling_);
    if (next.node && typeOf(*next.node) == DML_OPERATOR_ELEMENT_WISE_MULTIPLY && isParameter(next)) {
      inputs[1] = {next.node, 1 - next.input};
      nodes.push_back(next.node);
      next = readerOf(*next.node);
    }
    if (next.node && isSum(*next.node) && isParameter(next)) {
      inputs[2] = {next.node, 1 - next.input};
      nodes.push_back(next.node);
    }
    const auto axes = axesOf(*variance_);
    const DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC desc{
        nullptr,     nullptr,          nullptr, nullptr,  static_cast<UINT>(axes.size()),
        axes.data(), mean_ != nullptr, TRUE,    epsilon_, nullptr};
    auto op = Operation::make(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2, desc, tensorsOf(inputs),
                              {nodes.back()->op->output()});
    if (op) replaceNodes(graph, nodes, std::move(*op), inputs);
  }

 private:
  // Finds the square root in any spelling: the node divides by nothing but this root, or multiplies by its reciprocal.
  bool findRoot() {
    if (typeOf(scaling_) == DML_OPERATOR_ELEMENT_WISE_DIVIDE) {
      root_ = producerAt(scaling_, 1, DML_OPERATOR_ELEMENT_WISE_SQRT);
      return root_ && readersOf(*root_) == 1 && !scalesFirst<DML_ELEMENT_WISE_SQRT_OPERATOR_DESC>(*root_);
    }
    for (uint32_t input = 0; input < 2; ++input) {
      x_ = 1 - input;
      if ((reciprocal_ = producerAt(scaling_, input, DML_OPERATOR_ELEMENT_WISE_RECIP))) {
        if (scalesFirst<DML_ELEMENT_WISE_RECIP_OPERATOR_DESC>(*reciprocal_)) return false;
        root_ = onlyProducerAt(*reciprocal_, 0, DML_OPERATOR_ELEMENT_WISE_SQRT);
      } else if ((reciprocal_ = producerAt(scaling_, input, DML_OPERATOR_ELEMENT_WISE_DIVIDE))) {
        root_ =
            isNumber(*reciprocal_, 0, 1) ? onlyProducerAt(*reciprocal_, 1, DML_OPERATOR_ELEMENT_WISE_SQRT) : nullptr;
      }
      if (root_) break;
    }
    return root_ && readersOf(*reciprocal_) == 1 && !scalesFirst<DML_ELEMENT_WISE_SQRT_OPERATOR_DESC>(*root_) &&
           sameLayout(reciprocal_->op->output(), root_->op->output());
  }

  template <class Desc>
  static bool scalesFirst(const Node& node) {
    return node.op->as<Desc>().ScaleBias != nullptr;
  }

  // sqrt(variance + epsilon)
  bool findVariance() {
    sum_ = onlyProducerAt(*root_, 0, DML_OPERATOR_ELEMENT_WISE_ADD);
    if (!sum_) return false;
    for (uint32_t input = 0; input < 2; ++input) {
      variance_ = onlyProducerAt(*sum_, input, DML_OPERATOR_REDUCE);
      const auto epsilon = floatAt(*sum_, 1 - input);
      if (!variance_ || !epsilon) continue;
      epsilon_ = *epsilon;
      return sameLayout(root_->op->output(), variance_->op->output());
    }
    return false;
  }

  // The square of x, which only the variance reads.
  bool findSquare() {
    if ((square_ = onlyProducerAt(*variance_, 0, DML_OPERATOR_ELEMENT_WISE_POW))) {
      if (!isNumber(*square_, 1, 2) || scalesFirst<DML_ELEMENT_WISE_POW_OPERATOR_DESC>(*square_)) return false;
    } else if ((square_ = onlyProducerAt(*variance_, 0, DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW))) {
      const auto& desc = square_->op->as<DML_ELEMENT_WISE_CONSTANT_POW_OPERATOR_DESC>();
      if (desc.Exponent != 2 || desc.ScaleBias) return false;
    } else if ((square_ = onlyProducerAt(*variance_, 0, DML_OPERATOR_ELEMENT_WISE_MULTIPLY))) {
      if (!readSame(*square_, 0, *square_, 1)) return false;
    } else {
      return false;
    }
    return readSame(*square_, 0, scaling_, x_) && sameLayout(square_->op->output(), variance_->op->input(0));
  }

  // The mean that is subtracted from x, if only these nodes read x. If null, x is taken as it is.
  void findMean() {
    centred_ = producerAt(scaling_, x_, DML_OPERATOR_ELEMENT_WISE_SUBTRACT);
    mean_ = centred_ ? producerAt(*centred_, 1, DML_OPERATOR_REDUCE) : nullptr;
    const size_t readers = typeOf(*square_) == DML_OPERATOR_ELEMENT_WISE_MULTIPLY ? 3 : 2;
    // All readers see differences and roots with the layout in which they are made, because axes refer to a single
    // shape.
    const bool isFound = mean_ && isMean(*mean_, *centred_, 1) && readersOf(*mean_) == 1 &&
                         readersOf(*centred_) == readers && readSame(*mean_, 0, *centred_, 0) &&
                         readsAsMade(centred_->op->output(), *scaling_.op, x_) &&
                         sameSizes(centred_->op->output(), scaling_.op->output()) &&
                         std::ranges::equal(axesOf(*mean_), axesOf(*variance_));
    if (!isFound) mean_ = centred_ = nullptr;
  }

  // What belongs to elements at the same places of all means.
  bool isParameter(const Reader& reader) const {
    const Tensor& parameter = reader.node->op->input(1 - reader.input);
    const uint32_t mask = axisMask(axesOf(*variance_));
    if (parameter.type != scaling_.op->output().type || parameter.rank != scaling_.op->output().rank) return false;
    for (uint32_t d = 0; d < parameter.rank; ++d)
      if ((mask >> d & 1) == 0 && parameter.sizes[d] > 1 && parameter.strides[d] != 0) return false;
    return true;
  }

  Node& scaling_;
  uint32_t x_ = 0;  // the input of `scaling_` that is normalized
  Node *mean_ = nullptr, *centred_ = nullptr, *square_ = nullptr, *variance_ = nullptr, *sum_ = nullptr,
       *root_ = nullptr, *reciprocal_ = nullptr;
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
    const std::vector<Taken> inputs{{argument_, x_}};
    auto op = Operation::make(DML_OPERATOR_ACTIVATION_GELU, DML_ACTIVATION_GELU_OPERATOR_DESC{}, tensorsOf(inputs),
                              {nodes_.back()->op->output()});
    if (op) replaceNodes(graph, nodes_, std::move(*op), inputs);
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
  replaceAt<Normalization>(graph, DML_OPERATOR_ELEMENT_WISE_DIVIDE);
  replaceAt<Normalization>(graph, DML_OPERATOR_ELEMENT_WISE_MULTIPLY);
  replaceAt<Gelu>(graph, DML_OPERATOR_ELEMENT_WISE_ERF);
}

}  // namespace dimple
