// Products of the same rows with different weights, known at initialization, become one product whose results lie side
// by side. Where it makes gates and what they gate, it applies them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/graph/passes/matching.h"
#include "core/ops/chain.h"
#include "core/ops/weight_product.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kWordBits = 32;

// Tensors of weights that are joined along their columns, and where they are read.
struct JoinedWeights {
  Tensor tensor;
  Place place;
};

// Whether columns lie one behind the other, the same for all batches.
bool hasPackedColumns(const Tensor& tensor) {
  const uint32_t rank = tensor.rank;
  for (uint32_t d = 0; d + 2 < rank; ++d)
    if (tensor.sizes[d] > 1 && tensor.strides[d] != 0) return false;
  const uint32_t length = tensor.sizes[rank - 1];
  return (length == 1 || tensor.strides[rank - 1] == 1) &&
         (tensor.sizes[rank - 2] == 1 || tensor.strides[rank - 2] == length);
}

class SiblingFinder {
 public:
  SiblingFinder(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  void find() {
    std::unordered_map<const Value*, std::vector<Node*>> readers;
    std::vector<const Value*> order;
    for (Node& node : graph_.nodes())
      if (isCandidate(node)) {
        auto& of = readers[node.inputs()[0].value];
        if (of.empty()) order.push_back(node.inputs()[0].value);
        of.push_back(&node);
      }
    for (const Value* value : order) {
      std::vector<Node*>& left = readers[value];
      while (left.size() > 1) {
        std::vector<Node*> alike{left.front()}, others;
        for (size_t i = 1; i < left.size(); ++i) (isAlike(*left[0], *left[i]) ? alike : others).push_back(left[i]);
        if (alike.size() > 1) join(alike);
        left = std::move(others);
      }
    }
  }

 private:
  // A product whose weights are known, and whose results only nodes read.
  bool isCandidate(const Node& node) const {
    if (!node.op || node.runsAtInitialization || !node.targets.empty()) return false;
    const auto weights = weightInputsOf(*node.op);
    if (!weights || !node.outputs()[0].graphOutputs.empty() || node.outputs()[0].uses.empty()) return false;
    const Tensor& y = node.op->output();
    if (!isPacked(y) || y.rank < 2) return false;
    // What follows it begins where it can be bound.
    if (uint64_t{y.sizes[y.rank - 1]} * bitWidth(y.type) / 8 % target_.caps.bufferOffsetAlignment != 0) return false;
    return onlyMultiplies(*node.op) &&
           (y.elements == y.sizes[y.rank - 1] || std::ranges::all_of(node.outputs()[0].uses, readsRowsApart));
  }

  // Whether a reader takes no longer where rows of what it reads lie apart.
  static bool readsRowsApart(const Value::Use& use) {
    const Operation& op = *use.node->op;
    return op.schema().parts || !elementSteps(op).empty() || typeOf(*use.node) == DML_OPERATOR_MULTIHEAD_ATTENTION ||
           typeOf(*use.node) == DML_OPERATOR_MULTIHEAD_ATTENTION1;
  }

  static bool isAlike(const Node& a, const Node& b) {
    return a.inputs()[0] == b.inputs()[0] && multiplyAlike(*a.op, *b.op) &&
           sameSizesBut(a.op->output(), b.op->output());
  }
  // But for the last.
  static bool sameSizesBut(const Tensor& a, const Tensor& b) {
    return a.rank == b.rank && std::equal(a.sizes.begin(), a.sizes.begin() + a.rank - 1, b.sizes.begin());
  }

  // ---- weights ----

  // One tensor of the columns of all, which initialization makes, unless all read the same element. No value if they
  // are not known, or not in whole bytes.
  std::optional<JoinedWeights> weightsOf(const std::vector<Node*>& nodes, size_t input) {
    const auto at = [&](const Node& node) -> const Tensor& { return node.op->input(input); };
    JoinedWeights joined{at(*nodes[0]), nodes[0]->inputs()[input]};
    const uint32_t column = joined.tensor.rank - 2;
    uint64_t columns = 0;
    for (const Node* node : nodes) columns += at(*node).sizes[column];
    if (columns > INT32_MAX) return {};
    const auto isShared = [&](const Node* node) {
      return isOneElement(at(*node)) && node->inputs()[input] == joined.place;
    };
    if (std::ranges::any_of(nodes, [&](const Node* node) { return at(*node).sizes[column] != columnsOf(*node); }))
      return {};
    joined.tensor.sizes[column] = static_cast<uint32_t>(columns);
    if (std::ranges::all_of(nodes, isShared)) {
      joined.tensor = asGiven(joined.tensor);
      return joined;
    }
    std::vector<Place> parts;
    std::vector<uint64_t> bits;
    for (const Node* node : nodes) {
      const Tensor& tensor = at(*node);
      const Place& from = node->inputs()[input];
      if (!graph_.isKnown(*from.value) || !hasPackedColumns(tensor)) return {};
      parts.push_back(from);
      bits.push_back(uint64_t{tensor.sizes[column]} * tensor.sizes[column + 1] * bitWidth(tensor.type));
    }
    joined.tensor.strides[column] = joined.tensor.sizes[column + 1];
    joined.tensor.strides[column + 1] = 1;
    joined.tensor.ownedByDml = false;
    joined.tensor = asGiven(joined.tensor);
    if (joined.tensor.totalBytes > target_.caps.maxBufferRange) return {};
    const auto place = joinedPlace(*nodes.front(), parts, bits);
    if (!place) return {};
    joined.place = *place;
    return joined;
  }

  static uint32_t columnsOf(const Node& product) {
    const Tensor& y = product.op->output();
    return y.sizes[y.rank - 1];
  }

  // A JOIN of so many bits of each place.
  std::optional<Place> joinedPlace(Node& before, const std::vector<Place>& parts, const std::vector<uint64_t>& bits) {
    const bool inWords = std::ranges::all_of(bits, [](uint64_t count) { return count % kWordBits == 0; });
    if (!inWords && !std::ranges::all_of(bits, [](uint64_t count) { return count % 8 == 0; })) return {};
    const DataType type = inWords ? DML_TENSOR_DATA_TYPE_UINT32 : DML_TENSOR_DATA_TYPE_UINT8;
    std::vector<Tensor> inputs;
    uint64_t all = 0;
    const auto rowOf = [&](uint64_t count) {
      const uint32_t sizes[] = {1, 1, 1, static_cast<uint32_t>(count)};
      return asGiven(packedTensor(type, sizes));
    };
    for (const uint64_t count : bits) {
      inputs.push_back(rowOf(count / bitWidth(type)));
      all += count / bitWidth(type);
    }
    const auto count = static_cast<UINT>(parts.size());
    auto op = Operation::make(DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC{count, nullptr, nullptr, 3}, std::move(inputs),
                              {rowOf(all)});
    if (!op) return {};
    Node& node = graph_.add("weights of siblings", "weights of siblings",
                            std::make_shared<const Operation>(std::move(*op)), &before);
    node.runsAtInitialization = true;
    for (UINT i = 0; i < count; ++i) graph_.connect(node, i, parts[i]);
    return Place{&node.outputs()[0], 0};
  }

  // ---- products ----

  void join(const std::vector<Node*>& nodes) {
    Node& first = *nodes.front();
    const WeightInputs at = *weightInputsOf(*first.op);
    const auto integers = weightsOf(nodes, at.integers);
    const auto scale = integers ? weightsOf(nodes, at.scale) : std::nullopt;
    const auto zero = scale && at.zeroPoint != 0 ? weightsOf(nodes, at.zeroPoint) : std::optional(JoinedWeights{});
    if (!integers || !scale || !zero) return;
    std::vector<Tensor> parts;
    Tensor whole = first.op->output();
    const uint32_t axis = whole.rank - 1;
    whole.sizes[axis] = 0;
    for (const Node* node : nodes) {
      parts.push_back(node->op->output());
      whole.sizes[axis] += node->op->output().sizes[axis];
    }
    whole = asGiven(packedTensor(whole.type, whole.sizeSpan()));
    auto product = withWeights(*first.op, {integers->tensor, scale->tensor, zero->tensor}, whole, target_);
    auto split = Operation::make(DML_OPERATOR_SPLIT,
                                 DML_SPLIT_OPERATOR_DESC{nullptr, static_cast<UINT>(nodes.size()), nullptr, axis},
                                 {whole}, std::move(parts));
    if (!product || !split) return;
    std::string name, label;
    for (const Node* node : nodes) {
      name += cat(name.empty() ? "" : " beside ", node->name);
      label += cat(label.empty() ? "" : " beside ", node->label);
    }
    Node& made = graph_.add(name, label, std::make_shared<const Operation>(std::move(*product)), &first);
    graph_.connect(made, 0, first.inputs()[0]);
    graph_.connect(made, static_cast<uint32_t>(at.integers), integers->place);
    graph_.connect(made, static_cast<uint32_t>(at.scale), scale->place);
    if (at.zeroPoint != 0) graph_.connect(made, static_cast<uint32_t>(at.zeroPoint), zero->place);
    Node& apart = graph_.add(name, label, std::make_shared<const Operation>(std::move(*split)), &first);
    graph_.connect(apart, 0, {&made.outputs()[0], 0});
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      graph_.replaceAllUses(nodes[i]->outputs()[0], apart.outputs()[i]);
      graph_.erase(*nodes[i]);
    }
    if (nodes.size() == 2) applyGates(made, apart);
  }

  // ---- gates ----

  // gate * sigmoid(gate) * factor, of the halves of a product, in any order.
  void applyGates(Node& product, Node& split) {
    for (uint32_t g = 0; g < 2; ++g) {
      const Value& gates = split.outputs()[g];
      const Value& factors = split.outputs()[1 - g];
      if (gates.uses.size() != 2 || factors.uses.size() != 1) continue;
      Node* last = factors.uses[0].node;
      const uint32_t input = factors.uses[0].input;
      Node* silu = isProduct(*last) ? onlyProducerAt(*last, 1 - input, DML_OPERATOR_ELEMENT_WISE_MULTIPLY) : nullptr;
      if (!silu || !isProduct(*silu)) continue;
      Node* sigmoid = nullptr;
      for (uint32_t i = 0; i < 2; ++i)
        if (silu->inputs()[1 - i] == Place{&split.outputs()[g], 0})
          if (Node* found = onlyProducerAt(*silu, i, DML_OPERATOR_ACTIVATION_SIGMOID)) sigmoid = found;
      if (!sigmoid || sigmoid->inputs()[0] != Place{&split.outputs()[g], 0} || factors.uses[0].node == silu) continue;
      if (last->inputs()[input].offset != 0) continue;
      const Tensor& half = split.op->output(g);
      if (!sameSizes(half, split.op->output(1 - g))) continue;
      const auto isWhole = [&](const Tensor& tensor) {
        return tensor.type == half.type && tensor.elements == half.elements && isPacked(tensor);
      };
      bool whole = true;
      for (const Node* node : {sigmoid, silu, last}) {
        for (const Tensor& tensor : node->op->inputs()) whole &= isWhole(tensor);
        whole &= isWhole(node->op->output());
      }
      auto op = whole ? gatedProduct(*product.op, g == 1, half, target_) : std::nullopt;
      if (!op) continue;
      replace(product, split, {sigmoid, silu, last}, std::move(*op));
      return;
    }
  }

  static bool isProduct(const Node& node) {
    return typeOf(node) == DML_OPERATOR_ELEMENT_WISE_MULTIPLY && !node.runsAtInitialization &&
           node.op->activation().type == DML_OPERATOR_INVALID;
  }

  void replace(Node& product, Node& split, const std::vector<Node*>& nodes, Operation op) {
    std::string name = product.name, label = product.label;
    for (const Node* node : nodes) {
      name += cat(" with ", node->name);
      label += cat(" with ", node->label);
    }
    Node& made =
        graph_.add(std::move(name), std::move(label), std::make_shared<const Operation>(std::move(op)), &product);
    for (uint32_t i = 0; i < product.inputs().size(); ++i)
      if (product.inputs()[i].value) graph_.connect(made, i, product.inputs()[i]);
    graph_.replaceAllUses(nodes.back()->outputs()[0], made.outputs()[0]);
    for (size_t n = nodes.size(); n-- > 0;) graph_.erase(*nodes[n]);
    graph_.erase(split);
    graph_.erase(product);
  }

  Graph& graph_;
  const Target& target_;
};

}  // namespace

void passes::joinSiblings(Graph& graph, const Target& target) {
  // It makes nodes that execute at initialization.
  if (runsPass(target.options, "constants")) SiblingFinder(graph, target).find();
}

}  // namespace dimple
