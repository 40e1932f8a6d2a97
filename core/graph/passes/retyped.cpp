#include "core/graph/passes/retyped.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/passes/matching.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

class Retyped {
 public:
  Retyped(Node& node, const Conversions& conversions) : node_(node), conversions_(conversions), op_(*node.op) {}

  // Whether all that it reads and makes is converted, and it has a plan without.
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
      before_.emplace_back(i, conversion);
      op_.setTensor(Role::Input, i, ofTypeOf(op_.input(i), conversion->op->input(0)));
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
      }
      op_.setTensor(Role::Output, i, ofTypeOf(made, narrow));
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

bool retype(Graph& graph, Node& node, const Conversions& conversions, const Target& target) {
  Retyped retyped(node, conversions);
  if (!retyped.isPossible(target)) return false;
  retyped.replace(graph);
  return true;
}

}  // namespace dimple
