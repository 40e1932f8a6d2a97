// Chains that do the same with parts of a tensor that lie side by side become one chain, whose results are parts of
// another tensor.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/chain.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

uint64_t elementsFrom(const Tensor& tensor, uint32_t dimension) {
  uint64_t elements = 1;
  for (uint32_t d = dimension; d < tensor.rank; ++d) elements *= tensor.sizes[d];
  return elements;
}

class NeighbourJoiner {
 public:
  NeighbourJoiner(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  // Joins parts of a SPLIT of a last dimension with those behind them.
  void join(Node& split) {
    const Tensor& whole = split.op->input(0);
    if (split.op->as<DML_SPLIT_OPERATOR_DESC>().Axis + 1 != whole.rank || !isPacked(whole)) return;
    if (!std::ranges::all_of(split.op->outputs(), isPacked)) return;
    for (uint32_t part = 0; part < split.outputs().size(); ++part) readThroughCopies(split, part);
    Node* now = &split;
    for (uint32_t part = 0; part + 1 < now->outputs().size();) {
      Node* joined = joinAt(*now, part);
      if (joined)
        now = joined;
      else
        ++part;
    }
  }

 private:
  // Lets readers of a part's copies read the part.
  void readThroughCopies(Node& split, uint32_t part) {
    Value& value = split.outputs()[part];
    const Tensor& tensor = split.op->output(part);
    std::vector<Node*> copies;
    for (const Value::Use& use : value.uses) {
      const Node& node = *use.node;
      if (typeOf(node) != DML_OPERATOR_ELEMENT_WISE_IDENTITY || !node.outputs()[0].graphOutputs.empty()) continue;
      const Operation& op = *node.op;
      if (op.as<DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC>().ScaleBias || op.input(0).type != tensor.type) continue;
      if (node.inputs()[0].offset == 0 && op.input(0).elements == tensor.elements && isPacked(op.input(0)) &&
          isPacked(op.output()) && !node.runsAtInitialization && node.targets.empty())
        copies.push_back(use.node);
    }
    for (Node* node : copies) {
      graph_.replaceAllUses(node->outputs()[0], value);
      graph_.erase(*node);
    }
  }

  // A chain that is the only node that reads a part, and reads all of it; null: there is none.
  static Node* chainOf(const Node& split, uint32_t part) {
    const Value& value = split.outputs()[part];
    if (!value.graphOutputs.empty() || value.uses.empty()) return nullptr;
    Node* chain = value.uses[0].node;
    const auto fits = [&](const Value::Use& use) {
      const Tensor& tensor = use.node->op->input(use.input);
      return use.node == chain && chain->inputs()[use.input].offset == 0 &&
             tensor.elements == split.op->output(part).elements && isPacked(tensor);
    };
    if (!chain->op || chain->runsAtInitialization || !chain->targets.empty() || chain->outputs().size() != 1)
      return nullptr;
    if (!std::ranges::all_of(value.uses, fits) || !isChain(*chain->op)) return nullptr;
    const Value& made = chain->outputs()[0];
    if (!made.graphOutputs.empty() || !isPacked(chain->op->output())) return nullptr;
    // A chain writes where a JOIN would move its results to.
    const auto isJoin = [](const Value::Use& use) { return typeOf(*use.node) == DML_OPERATOR_JOIN; };
    return std::ranges::none_of(made.uses, isJoin) ? chain : nullptr;
  }

  // The only dimension in which two tensors have different sizes, or the one that divides rows from columns.
  static std::optional<uint32_t> joinedDimension(const Tensor& a, const Tensor& b, uint64_t columnsOfA,
                                                 uint64_t columnsOfB) {
    if (a.rank != b.rank) return {};
    for (uint32_t d = 0; d < a.rank; ++d) {
      if (elementsFrom(a, d) != columnsOfA || elementsFrom(b, d) != columnsOfB) continue;
      const bool sameBefore = std::equal(a.sizes.begin(), a.sizes.begin() + d, b.sizes.begin());
      if (sameBefore && std::equal(a.sizes.begin() + d + 1, a.sizes.begin() + a.rank, b.sizes.begin() + d + 1))
        return d;
    }
    return {};
  }

  // Of two tensors that chains read, the one that both read together: parts of one value, or what serves both.
  static std::optional<Tensor> together(const Tensor& a, const Tensor& b, uint32_t dimension, bool areParts) {
    Tensor tensor = a;
    tensor.sizes[dimension] += b.sizes[dimension];
    if (areParts) return asGiven(packedTensor(tensor.type, tensor.sizeSpan()));
    for (uint32_t d = 0; d < a.rank; ++d)
      if (a.strides[d] != b.strides[d]) return {};
    if (a.strides[dimension] != 0) return {};
    return asGiven(tensor);
  }

  struct Joined {
    std::vector<Tensor> inputs;
    Tensor output;
  };

  static std::optional<Joined> joinedTensors(const Node& split, uint32_t part, const Node& a, const Node& b) {
    const auto columns = [&](uint32_t p) {
      const Tensor& tensor = split.op->output(p);
      return uint64_t{tensor.sizes[tensor.rank - 1]};
    };
    const Tensor& y = a.op->output();
    const auto dimension = joinedDimension(y, b.op->output(), columns(part), columns(part + 1));
    if (!dimension) return {};
    Joined joined;
    for (uint32_t i = 0; i < a.inputs().size(); ++i) {
      const bool areParts = a.inputs()[i].value == &split.outputs()[part];
      if (areParts != (b.inputs()[i].value == &split.outputs()[part + 1])) return {};
      if (!areParts && a.inputs()[i] != b.inputs()[i]) return {};
      if (areParts && (!sameSizes(a.op->input(i), y) || !sameSizes(b.op->input(i), b.op->output()))) return {};
      // A chain does not turn a dimension that others are added to.
      if (a.op->as<Chain>().reversed[i] >> *dimension & 1) return {};
      auto tensor = together(a.op->input(i), b.op->input(i), *dimension, areParts);
      if (!tensor) return {};
      joined.inputs.push_back(*tensor);
    }
    Tensor output = y;
    output.sizes[*dimension] += b.op->output().sizes[*dimension];
    joined.output = asGiven(packedTensor(y.type, output.sizeSpan()));
    return joined;
  }

  // A SPLIT along the last dimension. No value: it would not be one.
  static std::optional<Operation> splitOf(const Tensor& whole, std::vector<Tensor> parts) {
    const auto count = static_cast<UINT>(parts.size());
    auto op = Operation::make(DML_OPERATOR_SPLIT, DML_SPLIT_OPERATOR_DESC{nullptr, count, nullptr, whole.rank - 1},
                              {whole}, std::move(parts));
    if (!op) return {};
    return std::move(*op);
  }

  // Joins the chains of a part and of the next one. Returns the SPLIT that is left of the given one; null: nothing was
  // joined.
  Node* joinAt(Node& split, uint32_t part) {
    Node* const a = chainOf(split, part);
    Node* const b = a ? chainOf(split, part + 1) : nullptr;
    if (!b || a == b || !isSameChain(*a->op, *b->op)) return nullptr;
    auto tensors = joinedTensors(split, part, *a, *b);
    if (!tensors) return nullptr;
    const Tensor& whole = split.op->input(0);
    std::vector<Tensor> parts(split.op->outputs().begin(), split.op->outputs().end());
    const std::vector<Tensor> results{parts[part], parts[part + 1]};
    Tensor both = parts[part];
    both.sizes[both.rank - 1] += parts[part + 1].sizes[both.rank - 1];
    both = asGiven(packedTensor(both.type, both.sizeSpan()));
    parts[part] = both;
    parts.erase(parts.begin() + part + 1);
    // What chains make may be of another type than what they read.
    Tensor made = both;
    made.type = tensors->output.type;
    std::vector<Tensor> madeParts = results;
    for (Tensor& tensor : madeParts) tensor.type = made.type;
    made = asGiven(made);
    for (Tensor& tensor : madeParts) tensor = asGiven(tensor);
    if (uint64_t{results[0].sizes[made.rank - 1]} * bitWidth(made.type) / 8 % target_.caps.bufferOffsetAlignment != 0)
      return nullptr;
    auto before = splitOf(whole, std::move(parts));
    auto after = splitOf(made, std::move(madeParts));
    if (!before || !after) return nullptr;
    TensorNames names;
    for (size_t i = 0; i < a->inputs().size(); ++i) names.inputs.push_back(a->op->inputName(i));
    names.outputs.push_back(a->op->outputName(0));
    Operation chain = chainOperation(a->op->as<Chain>(), tensors->inputs, {tensors->output}, std::move(names));
    if (!planUnkept(chain, target_)) return nullptr;

    Node& apart = graph_.add(split.name, split.label, std::make_shared<const Operation>(std::move(*before)), a);
    graph_.connect(apart, 0, split.inputs()[0]);
    const std::string name = cat(a->name, " beside ", b->name), label = cat(a->label, " beside ", b->label);
    Node& joined = graph_.add(name, label, std::make_shared<const Operation>(std::move(chain)), a);
    for (uint32_t i = 0; i < a->inputs().size(); ++i) {
      const bool isPart = a->inputs()[i].value == &split.outputs()[part];
      graph_.connect(joined, i, isPart ? Place{&apart.outputs()[part], 0} : a->inputs()[i]);
    }
    Node& last = graph_.add(name, label, std::make_shared<const Operation>(std::move(*after)), a);
    graph_.connect(last, 0, {&joined.outputs()[0], 0});
    graph_.replaceAllUses(a->outputs()[0], last.outputs()[0]);
    graph_.replaceAllUses(b->outputs()[0], last.outputs()[1]);
    graph_.erase(*a);
    graph_.erase(*b);
    for (uint32_t o = 0; o < split.outputs().size(); ++o)
      if (o != part && o != part + 1) graph_.replaceAllUses(split.outputs()[o], apart.outputs()[o < part ? o : o - 1]);
    graph_.erase(split);
    return &apart;
  }

  Graph& graph_;
  const Target& target_;
};

}  // namespace

void passes::joinNeighbours(Graph& graph, const Target& target) {
  std::vector<Node*> splits;
  for (Node& node : graph.nodes())
    if (typeOf(node) == DML_OPERATOR_SPLIT && !node.runsAtInitialization) splits.push_back(&node);
  NeighbourJoiner joiner(graph, target);
  for (Node* split : splits) joiner.join(*split);
}

}  // namespace dimple
