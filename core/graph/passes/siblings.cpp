// Products of the same rows with different weights, known at initialization, become one product whose results lie side
// by side. Where one makes gates and what they gate, it applies them.
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
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr uint32_t kWordBits = 32;

// Tensors of weights, or of biases, that are joined along their columns, and where they are read.
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
    // Those that the graph has joined itself, too.
    std::vector<Node*> splits;
    for (Node& node : graph_.nodes())
      if (typeOf(node) == DML_OPERATOR_SPLIT && !node.runsAtInitialization && node.outputs().size() == 2)
        splits.push_back(&node);
    for (Node* split : splits) applyGates(*split);
  }

 private:
  // A product whose weights are known, and whose results only nodes read.
  bool isCandidate(const Node& node) const {
    if (!node.op || node.runsAtInitialization || !node.targets.empty()) return false;
    if (!isPlainProduct(node) && !onlyMultiplies(*node.op)) return false;
    if (!node.outputs()[0].graphOutputs.empty() || node.outputs()[0].uses.empty()) return false;
    const Tensor& y = node.op->output();
    if (!isPacked(y) || y.rank < 2) return false;
    // What follows it begins where it can be bound.
    if (uint64_t{y.sizes[y.rank - 1]} * bitWidth(y.type) / 8 % target_.caps.bufferOffsetAlignment != 0) return false;
    return y.elements == y.sizes[y.rank - 1] || std::ranges::all_of(node.outputs()[0].uses, readsRowsApart);
  }

  // A GEMM with floats that does nothing but multiply and add a bias.
  bool isPlainProduct(const Node& node) const {
    if (typeOf(node) != DML_OPERATOR_GEMM) return false;
    const Operation& op = *node.op;
    const bool adds = op.input(kBiasInput).present();
    return op.as<DML_GEMM_OPERATOR_DESC>().TransA == DML_MATRIX_TRANSFORM_NONE &&
           op.activation().type == DML_OPERATOR_INVALID && op.epilogue().steps == 0 &&
           graph_.isKnown(*node.inputs()[kWeightsInput].value) &&
           (!adds || graph_.isKnown(*node.inputs()[kBiasInput].value));
  }

  // Whether a reader takes no longer where rows of what it reads lie apart.
  static bool readsRowsApart(const Value::Use& use) {
    const Operation& op = *use.node->op;
    // A product that reads heads reads rows apart already.
    if (typeOf(*use.node) == DML_OPERATOR_GEMM) return !isPacked(op.input(use.input));
    return op.schema().parts || !elementSteps(op).empty() || typeOf(*use.node) == DML_OPERATOR_MULTIHEAD_ATTENTION ||
           typeOf(*use.node) == DML_OPERATOR_MULTIHEAD_ATTENTION1;
  }

  static bool isAlike(const Node& a, const Node& b) {
    if (a.inputs()[0] != b.inputs()[0] || typeOf(a) != typeOf(b) || !sameSizesBut(a.op->output(), b.op->output()))
      return false;
    return typeOf(a) == DML_OPERATOR_GEMM ? isAlikeInFloats(*a.op, *b.op) : multiplyAlike(*a.op, *b.op);
  }
  static bool isAlikeInFloats(const Operation& a, const Operation& b) {
    const auto &ofA = a.as<DML_GEMM_OPERATOR_DESC>(), &ofB = b.as<DML_GEMM_OPERATOR_DESC>();
    return ofA.TransB == ofB.TransB && ofA.Alpha == ofB.Alpha && ofA.Beta == ofB.Beta &&
           sameLayout(a.input(0), b.input(0)) && a.output().type == b.output().type &&
           a.input(kBiasInput).present() == b.input(kBiasInput).present();
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

  // A JOIN of what nodes read as an input, along the dimension of columns: matrices that are the same for all batches,
  // whose rows may be all the same.
  std::optional<JoinedWeights> joinedAlong(const std::vector<Node*>& nodes, uint32_t input, uint32_t dimension) {
    const auto isRepeated = [dimension](const Tensor& tensor, uint32_t d) {
      return d != dimension && tensor.sizes[d] > 1 && tensor.strides[d] == 0;
    };
    const Tensor& first = nodes[0]->op->input(input);
    Tensor once = first;
    once.sizes[dimension] = 0;
    std::vector<Tensor> parts;
    for (const Node* node : nodes) {
      Tensor part = node->op->input(input);
      for (uint32_t d = 0; d < part.rank; ++d) {
        if (isRepeated(part, d) != isRepeated(first, d)) return {};
        if (isRepeated(part, d)) part.sizes[d] = once.sizes[d] = 1;
        if (d + 2 < part.rank && part.sizes[d] > 1) return {};
      }
      if (part.rank != first.rank || part.sizes[dimension] != columnsOf(*node)) return {};
      once.sizes[dimension] += part.sizes[dimension];
      part.ownedByDml = false;
      parts.push_back(asGiven(part));
    }
    once = asGiven(packedTensor(once.type, once.sizeSpan()));
    Tensor joined = first;
    joined.ownedByDml = false;
    joined.strides = once.strides;
    joined.sizes[dimension] = once.sizes[dimension];
    for (uint32_t d = 0; d < joined.rank; ++d)
      if (isRepeated(first, d)) joined.strides[d] = 0;
    joined = asGiven(joined);
    if (joined.totalBytes > target_.caps.maxBufferRange) return {};
    const auto count = static_cast<UINT>(parts.size());
    auto op = Operation::make(DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC{count, nullptr, nullptr, dimension},
                              std::move(parts), {once});
    if (!op) return {};
    Node& node = graph_.add("weights of siblings", "weights of siblings",
                            std::make_shared<const Operation>(std::move(*op)), nodes.front());
    node.runsAtInitialization = true;
    for (UINT i = 0; i < count; ++i) graph_.connect(node, i, nodes[i]->inputs()[input]);
    return JoinedWeights{joined, {&node.outputs()[0], 0}};
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

  // The operands that a product gets in the place of others, by input.
  using Operands = std::vector<std::pair<uint32_t, JoinedWeights>>;

  void join(const std::vector<Node*>& nodes) {
    Node& first = *nodes.front();
    Tensor whole = first.op->output();
    const uint32_t axis = whole.rank - 1;
    whole.sizes[axis] = 0;
    std::vector<Tensor> parts;
    for (const Node* node : nodes) {
      parts.push_back(node->op->output());
      whole.sizes[axis] += node->op->output().sizes[axis];
    }
    whole = asGiven(packedTensor(whole.type, whole.sizeSpan()));
    Operands operands;
    auto product = typeOf(first) == DML_OPERATOR_GEMM ? joinedFloats(nodes, whole, operands)
                                                      : joinedIntegers(nodes, whole, operands);
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
    for (const auto& [input, operand] : operands) graph_.connect(made, input, operand.place);
    Node& apart = graph_.add(name, label, std::make_shared<const Operation>(std::move(*split)), &first);
    graph_.connect(apart, 0, {&made.outputs()[0], 0});
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      graph_.replaceAllUses(nodes[i]->outputs()[0], apart.outputs()[i]);
      graph_.erase(*nodes[i]);
    }
  }

  std::optional<Operation> joinedIntegers(const std::vector<Node*>& nodes, const Tensor& whole, Operands& operands) {
    const Operation& first = *nodes.front()->op;
    const WeightInputs at = *weightInputsOf(first);
    std::vector<std::optional<JoinedWeights>> made{weightsOf(nodes, at.integers)};
    if (made[0]) made.push_back(weightsOf(nodes, at.scale));
    if (made.back() && at.zeroPoint != 0) made.push_back(weightsOf(nodes, at.zeroPoint));
    if (!made.back()) return {};
    const Weights weights{made[0]->tensor, made[1]->tensor, at.zeroPoint != 0 ? made[2]->tensor : Tensor()};
    auto product = withWeights(first, weights, whole, target_);
    if (!product) return {};
    const size_t inputs[] = {at.integers, at.scale, at.zeroPoint};
    for (size_t i = 0; i < made.size(); ++i) operands.emplace_back(static_cast<uint32_t>(inputs[i]), *made[i]);
    return product;
  }

  std::optional<Operation> joinedFloats(const std::vector<Node*>& nodes, const Tensor& whole, Operands& operands) {
    Operation product = *nodes.front()->op;
    const uint32_t rank = whole.rank;
    const bool across = product.as<DML_GEMM_OPERATOR_DESC>().TransB == DML_MATRIX_TRANSFORM_NONE;
    const auto weights = joinedAlong(nodes, kWeightsInput, across ? rank - 1 : rank - 2);
    if (!weights) return {};
    operands.emplace_back(kWeightsInput, *weights);
    if (product.input(kBiasInput).present()) {
      const auto bias = joinedAlong(nodes, kBiasInput, rank - 1);
      if (!bias) return {};
      operands.emplace_back(kBiasInput, *bias);
    }
    for (const auto& [input, operand] : operands) product.setTensor(Role::Input, input, operand.tensor);
    product.setTensor(Role::Output, 0, whole);
    if (!product.check() || !planUnkept(product, target_)) return {};
    return product;
  }

  // ---- gates ----

  // gate * sigmoid(gate) * factor, of the halves of a product, in any order.
  void applyGates(Node& split) {
    Node* const producer = split.inputs()[0].producer();
    const Tensor& taken = split.op->input(0);
    if (!producer || !producer->op || split.inputs()[0].offset != 0 || !weightInputsOf(*producer->op)) return;
    Node& product = *producer;
    const Tensor& made = product.op->output();
    const uint32_t columns = made.sizes[made.rank - 1];
    if (readersOf(product) != 1 || split.op->as<DML_SPLIT_OPERATOR_DESC>().Axis + 1 != taken.rank ||
        taken.sizes[taken.rank - 1] != columns || !isPacked(taken) || !isPacked(made))
      return;
    Tensor gated = made;
    gated.sizes[made.rank - 1] = columns / 2;
    gated = asGiven(packedTensor(made.type, gated.sizeSpan()));
    for (uint32_t g = 0; g < 2; ++g) {
      const Value& gates = split.outputs()[g];
      const Value& factors = split.outputs()[1 - g];
      if (gates.uses.size() != 2 || factors.uses.size() != 1) continue;
      if (!gates.graphOutputs.empty() || !factors.graphOutputs.empty()) continue;
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
      auto op = whole ? gatedProduct(*product.op, g == 1, gated, target_) : std::nullopt;
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
