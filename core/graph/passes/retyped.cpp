#include "core/graph/passes/retyped.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

class Retyped {
 public:
  Retyped(Node& node, const Conversions& conversions) : node_(node), conversions_(conversions), op_(*node.op) {}

  // Whether all its inputs and outputs are converted, and it has a plan without the conversions.
  bool isPossible(const Target& target) {
    return op_.epilogue().steps == 0 && findBefore() && findBehind() && op_.check() && planOperator(op_, target);
  }

  void replace(Graph& graph) {
    node_.setOperation(op_);
    std::vector<Node*> before;
    for (const auto& [input, conversion] : before_) {
      graph.connect(node_, input, conversion->inputs()[0]);
      if (std::ranges::find(before, conversion) == before.end()) before.push_back(conversion);
    }
    for (Node* conversion : before) {
      takeNames(*conversion, node_);
      if (!isRead(*conversion)) graph.erase(*conversion);
    }
    for (const auto& [output, conversion] : behind_) {
      takeNames(node_, *conversion);
      graph.replaceAllUses(conversion->outputs()[0], node_.outputs()[output]);
      graph.erase(*conversion);
    }
  }

 private:
  using Found = std::pair<uint32_t, Node*>;  // at an input or output of the operator

  bool findBefore() {
    for (uint32_t i = 0; i < op_.inputs().size(); ++i) {
      if (!op_.input(i).present() || op_.input(i).type != conversions_.wide) continue;
      const Place& from = node_.inputs()[i];
      Node* conversion = from.producer();
      if (!conversion || !conversion->op || from.offset != 0 || !conversions_.widens(*conversion)) return false;
      const Tensor& given = conversion->op->input(0);
      if (!keepsPlaces(*conversion) && !sameLayout(conversion->op->output(), op_.input(i))) return false;
      before_.emplace_back(i, conversion);
      op_.setTensor(Role::Input, i, keepsPlaces(*conversion) ? ofTypeOf(op_.input(i), given) : given);
    }
    return !before_.empty();
  }

  bool findBehind() {
    for (uint32_t i = 0; i < op_.outputs().size(); ++i) {
      const Tensor& made = op_.output(i);
      const Value& value = node_.outputs()[i];
      if (!made.present() || made.type != conversions_.wide) continue;
      Tensor narrow = made;
      narrow.type = conversions_.narrow;
      if (value.isRead()) {
        if (!value.graphOutputs.empty() || value.uses.size() != 1) return false;
        const auto& [reader, input] = value.uses[0];
        if (!reader->op || input != 0 || reader->inputs()[0].offset != 0 || !conversions_.narrows(*reader) ||
            !sameLayout(made, reader->op->input(0)))
          return false;
        behind_.emplace_back(i, reader);
        narrow = reader->op->output();
      }
      op_.setTensor(Role::Output, i, asGiven(narrow));
    }
    return true;
  }

  void takeNames(const Node& first, const Node& second) {
    node_.name = cat(first.name, " with ", second.name);
    node_.label = cat(first.label, " with ", second.label);
  }

  Node& node_;
  const Conversions& conversions_;
  Operation op_;
  std::vector<Found> before_, behind_;
};

}  // namespace

Conversions halfCasts() {
  constexpr DataType kOfOperator = DML_TENSOR_DATA_TYPE_FLOAT32;
  constexpr DataType kOfCasts = DML_TENSOR_DATA_TYPE_FLOAT16;
  const auto casts = [](DataType from, DataType to) {
    return [=](const Node& node) {
      return typeOf(node) == DML_OPERATOR_CAST && node.op->input(0).type == from && node.op->output().type == to;
    };
  };
  return {kOfOperator, kOfCasts, casts(kOfCasts, kOfOperator), casts(kOfOperator, kOfCasts)};
}

bool choosesElements(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_ARGMAX:
    case DML_OPERATOR_ARGMIN:
    case DML_OPERATOR_DEPTH_TO_SPACE:
    case DML_OPERATOR_DEPTH_TO_SPACE1:
    case DML_OPERATOR_GATHER:
    case DML_OPERATOR_GATHER_ELEMENTS:
    case DML_OPERATOR_GATHER_ND:
    case DML_OPERATOR_GATHER_ND1:
    case DML_OPERATOR_JOIN:
    case DML_OPERATOR_MAX_POOLING:
    case DML_OPERATOR_MAX_POOLING1:
    case DML_OPERATOR_MAX_POOLING2:
    case DML_OPERATOR_REVERSE_SUBSEQUENCES:
    case DML_OPERATOR_SLICE:
    case DML_OPERATOR_SLICE1:
    case DML_OPERATOR_SPACE_TO_DEPTH:
    case DML_OPERATOR_SPACE_TO_DEPTH1:
    case DML_OPERATOR_SPLIT:
    case DML_OPERATOR_TILE:
    case DML_OPERATOR_TOP_K:
    case DML_OPERATOR_TOP_K1:
      return true;
    default:
      return false;
  }
}

bool retype(Graph& graph, Node& node, const Conversions& conversions, const Target& target) {
  Retyped retyped(node, conversions);
  if (!retyped.isPossible(target)) return false;
  retyped.replace(graph);
  return true;
}

}  // namespace dimple
