// Normalizations, factors and sums of each channel go into the weights of the product or convolution before them.
#include <algorithm>
#include <optional>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// A parameter of each channel, described for another tensor.
Tensor parameterFor(const Tensor& given, uint32_t givenChannel, const Tensor& target, uint32_t channel,
                    bool broadcast) {
  Tensor tensor;
  tensor.type = given.type;
  tensor.rank = target.rank;
  tensor.ownedByDml = given.ownedByDml;
  for (uint32_t d = 0; d < target.rank; ++d) tensor.sizes[d] = broadcast || d == channel ? target.sizes[d] : 1;
  tensor.strides[channel] = given.sizes[givenChannel] > 1 ? given.strides[givenChannel] : 0;
  if (tensor.strides[channel] == 0 && !broadcast) tensor.sizes[channel] = 1;
  return asGiven(tensor);
}

// What an operation derives from the dimensions of the parameters alone, or takes unchanged.
struct Made {
  Place place;
  Tensor tensor;
};

// A linear node and the node that follows it now. The two become one, or nothing is done.
class Fold {
 public:
  Fold(Graph& graph, Node& first, Node& second, const Linear& linear, const Affine& affine, uint32_t channel)
      : graph_(graph),
        first_(first),
        second_(second),
        op_(*first.op),
        follower_(*second.op),
        linear_(linear),
        affine_(affine),
        channel_(channel) {}

  bool fold() {
    const bool hasBias = op_.input(kBiasInput).present();
    addsOnly_ = !affine_.scales && !hasBias;
    if (!mayFold(hasBias)) return false;
    std::optional<Made> weights, bias;
    if (affine_.scales) {
      weights = apply(op_.input(kWeightsInput), first_.inputs()[kWeightsInput], linear_.weightsChannel, false);
      if (!weights) return undo();
    }
    if (addsOnly_) {
      bias = sumAsBias();
    } else if (hasBias || normalizes()) {
      bias = foldBias(hasBias);
      if (!bias) return undo();
    }
    if (!replace(weights, bias)) return undo();
    graph_.replaceAllUses(second_.outputs()[0], first_.outputs()[0]);
    graph_.erase(second_);
    return true;
  }

 private:
  bool normalizes() const { return follower_.schema().type == DML_OPERATOR_BATCH_NORMALIZATION; }

  bool mayFold(bool hasBias) const {
    for (const uint32_t p : affine_.parameters) {
      const Place& from = second_.inputs()[p];
      if (!graph_.isKnown(*from.value) && !(addsOnly_ && !from.producer())) return false;
    }
    if (addsOnly_) return true;
    // Rounding a weight to FLOAT16 once more would use up all of the error that a result may have.
    if (op_.output().type != DML_TENSOR_DATA_TYPE_FLOAT32) return false;
    if (hasBias && !graph_.isKnown(*first_.inputs()[kBiasInput].value)) return false;
    return !affine_.scales || graph_.isKnown(*first_.inputs()[kWeightsInput].value);
  }

  // The addend is the bias.
  Made sumAsBias() const {
    const uint32_t p = affine_.parameters[0];
    Tensor sizes = op_.output();
    std::ranges::fill(sizes.sizes, 1u);
    sizes.sizes[linear_.channel] = op_.output().sizes[linear_.channel];
    return {second_.inputs()[p], parameterFor(follower_.input(p), channel_, sizes, linear_.channel, true)};
  }

  // The follower's result for the bias, or for one zero for all channels.
  std::optional<Made> foldBias(bool hasBias) {
    Tensor from = hasBias ? op_.input(kBiasInput) : op_.output();
    for (uint32_t d = 0; d < from.rank; ++d) {
      if (hasBias ? from.strides[d] == 0 : d != linear_.channel) from.sizes[d] = 1;
      if (!hasBias) from.strides[d] = 0;
    }
    if (from.sizes[linear_.channel] == 1) from.sizes[linear_.channel] = op_.output().sizes[linear_.channel];
    return apply(asGiven(from), hasBias ? first_.inputs()[kBiasInput] : zero(), linear_.channel, true);
  }

  Place zero() {
    Node& node = addZero(graph_);
    added_.push_back(&node);
    return {&node.outputs()[0]};
  }

  // Makes a node that does to a tensor what the follower does to each channel. It leaves out the addend unless `adds`
  // is set.
  std::optional<Made> apply(const Tensor& target, const Place& from, uint32_t channel, bool adds) {
    const Tensor result = packedTensor(target.type, target.sizeSpan());
    std::vector<Place> places{from};
    std::vector<Tensor> inputs{asGiven(target)};
    for (size_t p = 0; p < affine_.parameters.size(); ++p) {
      const bool isLeftOut = normalizes() && (p == 0 || p == 3) && !adds;
      places.push_back(isLeftOut ? zero() : second_.inputs()[affine_.parameters[p]]);
      inputs.push_back(
          isLeftOut ? asGiven(packedTensor(target.type, std::vector<uint32_t>(target.rank, 1)))
                    : parameterFor(follower_.input(affine_.parameters[p]), channel_, target, channel, !normalizes()));
    }
    auto op =
        normalizes()
            ? Operation::make(DML_OPERATOR_BATCH_NORMALIZATION, follower_.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>(),
                              std::move(inputs), {asGiven(result)})
            : Operation::make(affine_.scales ? DML_OPERATOR_ELEMENT_WISE_MULTIPLY : DML_OPERATOR_ELEMENT_WISE_ADD,
                              DML_ELEMENT_WISE_ADD_OPERATOR_DESC{}, std::move(inputs), {asGiven(result)});
    if (!op) return {};
    const std::string_view what = adds ? " of the bias" : " of the weights";
    Node& node = graph_.add(cat(second_.name, what), cat(second_.label, what),
                            std::make_shared<const Operation>(std::move(*op)));
    node.runsAtInitialization = true;
    for (uint32_t i = 0; i < places.size(); ++i) graph_.connect(node, i, places[i]);
    added_.push_back(&node);
    return Made{{&node.outputs()[0]}, result};
  }

  bool undo() {
    while (!added_.empty()) {
      graph_.erase(*added_.back());
      added_.pop_back();
    }
    return false;
  }

  // Gives the first node other weights and another bias, and what the second makes of its results besides.
  bool replace(const std::optional<Made>& weights, const std::optional<Made>& bias) {
    const bool gemm = op_.schema().type == DML_OPERATOR_GEMM;
    Operation changed = op_;
    if (weights) changed.setTensor(Role::Input, kWeightsInput, asGiven(weights->tensor));
    if (bias) {
      Tensor tensor = bias->tensor;
      // For a product, it has the sizes of the results.
      for (uint32_t d = 0; gemm && d < tensor.rank; ++d)
        if (tensor.sizes[d] != op_.output().sizes[d]) {
          tensor.sizes[d] = op_.output().sizes[d];
          tensor.strides[d] = 0;
        }
      if (!gemm) std::ranges::fill(std::span(tensor.sizes).first(tensor.rank), 1u);
      tensor.sizes[linear_.channel] = op_.output().sizes[linear_.channel];
      changed.setTensor(Role::Input, kBiasInput, asGiven(tensor));
      if (gemm) changed.setField(*findField(op_.schema(), "Beta"), 1.0f);
    }
    if (sameSizes(follower_.output(), op_.output())) {
      Tensor result = follower_.output();
      result.ownedByDml = false;
      changed.setTensor(Role::Output, 0, asGiven(result));
    }
    changed.setActivations(follower_.activations());
    if (!changed.check()) return false;
    first_.setOperation(std::move(changed));
    if (weights) graph_.connect(first_, kWeightsInput, weights->place);
    if (bias) graph_.connect(first_, kBiasInput, bias->place);
    first_.name = cat(first_.name, " with ", second_.name);
    first_.label = cat(first_.label, " with ", second_.label);
    return true;
  }

  Graph& graph_;
  Node& first_;
  Node& second_;
  const Operation op_, follower_;
  const Linear& linear_;
  const Affine& affine_;
  const uint32_t channel_;
  bool addsOnly_ = false;
  std::vector<Node*> added_;
};

bool fold(Graph& graph, Node& first, Node& second) {
  if (!first.op || first.runsAtInitialization || !second.op) return false;
  const auto linear = linearOf(*first.op);
  if (!linear) return false;
  const auto read = std::ranges::find(second.inputs(), Place{&first.outputs()[0]});
  const auto affine = affineOf(*second.op, static_cast<uint32_t>(read - second.inputs().begin()));
  if (!affine) return false;
  const auto channel = channelOf(first.op->output(), *linear, *second.op, *affine);
  return channel && Fold(graph, first, second, *linear, *affine, *channel).fold();
}

}  // namespace

void passes::foldWeights(Graph& graph, const Target& target) {
  // Folded weights are worth it only because they are computed once.
  if (!runsPass(target.options, "constants")) return;
  for (Node& first : graph.nodes()) {
    // Merges all nodes that follow, one after another.
    for (Node* second = onlyReader(first); second && fold(graph, first, *second);) second = onlyReader(first);
  }
}

}  // namespace dimple
