// Normalizations, factors and sums of each channel go into the weights of the product or convolution before them.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "core/graph_fuse.h"
#include "core/text.h"

namespace dimple {
namespace {

constexpr std::array<std::byte, 4> kZero{};

bool isPacked(const Tensor& tensor) {
  uint64_t packed = 1;
  for (uint32_t d = tensor.rank; d-- > 0; packed *= tensor.sizes[d])
    if (tensor.sizes[d] > 1 && tensor.strides[d] != packed) return false;
  return true;
}

// The description of a tensor, as long as it lives.
class TensorDesc {
 public:
  explicit TensorDesc(const Tensor& tensor) : tensor_(tensor) {
    buffer_ = {tensor.type,
               tensor.ownedByDml ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE,
               tensor.rank,
               tensor_.sizes.data(),
               tensor_.strides.data(),
               impliedBytes(tensor.type, tensor.sizeSpan(), tensor.strideSpan()).value_or(0),
               0};
  }
  TensorDesc(const TensorDesc&) = delete;
  const DML_TENSOR_DESC* get() const { return &desc_; }

 private:
  Tensor tensor_;
  DML_BUFFER_TENSOR_DESC buffer_{};
  DML_TENSOR_DESC desc_{DML_TENSOR_TYPE_BUFFER, &buffer_};
};

// An operator whose results are sums of products with weights, plus a bias.
struct Linear {
  uint32_t channel;         // the dimension of the results that the bias goes along
  uint32_t weightsChannel;  // the same of the weights
};
constexpr uint32_t kWeightsInput = 1;
constexpr uint32_t kBiasInput = 2;

std::optional<Linear> linearOf(const OpView& op) {
  if (op.activation().type != DML_OPERATOR_INVALID) return {};
  if (op.schema().type == DML_OPERATOR_CONVOLUTION) {
    const auto& desc = op.as<DML_CONVOLUTION_OPERATOR_DESC>();
    // What is padded stays 0.
    if (std::ranges::any_of(std::span(desc.OutputPadding, desc.DimensionCount), [](UINT p) { return p != 0; }))
      return {};
    const bool backward = desc.Direction == DML_CONVOLUTION_DIRECTION_BACKWARD;
    if (backward && desc.GroupCount != 1) return {};
    return Linear{1, backward ? 1u : 0u};
  }
  if (op.schema().type == DML_OPERATOR_GEMM) {
    const auto& desc = op.as<DML_GEMM_OPERATOR_DESC>();
    if (op.input(kBiasInput).present() && desc.Beta != 1.0f) return {};
    const uint32_t rank = op.output().rank;
    return Linear{rank - 1, desc.TransB == DML_MATRIX_TRANSFORM_TRANSPOSE ? rank - 2 : rank - 1};
  }
  return {};
}

// An operator that computes each element from the one at the same place and from parameters.
struct Affine {
  uint32_t input = 0;                // the tensor of elements
  std::vector<uint32_t> parameters;  // the others
  bool scales = true;                // elements are multiplied, besides what is added
};

std::optional<Affine> affineOf(const OpView& op, uint32_t input) {
  switch (op.schema().type) {
    case DML_OPERATOR_BATCH_NORMALIZATION:
      if (input != 0) return {};
      return Affine{0, {1, 2, 3, 4}};
    case DML_OPERATOR_ELEMENT_WISE_MULTIPLY:
      return Affine{input, {1 - input}};
    case DML_OPERATOR_ELEMENT_WISE_ADD:
    case DML_OPERATOR_ELEMENT_WISE_ADD1:
      return Affine{input, {1 - input}, false};
    default:
      return {};
  }
}

class WeightFolder {
 public:
  explicit WeightFolder(RewrittenGraph& rewritten) : rewritten_(rewritten) {
    const size_t count = nodes().size();
    readers_.resize(count);
    into_.resize(count, UINT32_MAX);
    for (uint32_t n = 0; n < count; ++n)
      for (const GraphSource& source : nodes()[n].inputs)
        if (source.kind == GraphSource::Kind::Node) readers_[source.index].push_back(n);
    for (const GraphSource& source : rewritten.graph.outputs)
      if (source.kind == GraphSource::Kind::Node) readers_[source.index].push_back(UINT32_MAX);
  }

  void fold() {
    const auto count = static_cast<uint32_t>(nodes().size());
    for (uint32_t first = 0; first < count; ++first) {
      // Whatever follows, one after another.
      for (uint32_t last = first; readers_[last].size() == 1 && readers_[last][0] != UINT32_MAX;) {
        const uint32_t second = readers_[last][0];
        if (!fold(first, last, second)) break;
        into_[second] = first;
        last = second;
      }
    }
    std::vector<bool> removed(nodes().size());
    for (uint32_t n = 0; n < count; ++n) removed[n] = into_[n] != UINT32_MAX;
    const auto move = [&](GraphSource& source) {
      if (source.kind == GraphSource::Kind::Node && source.index < count && removed[source.index])
        source = {source.kind, into_[source.index], 0};
    };
    for (GraphNode& node : nodes())
      for (GraphSource& source : node.inputs) move(source);
    for (GraphSource& source : rewritten_.graph.outputs) move(source);
    removeNodes(rewritten_.graph, removed);
  }

 private:
  std::vector<GraphNode>& nodes() { return rewritten_.graph.nodes; }

  bool isOnce(const GraphSource& source) {
    return source.kind == GraphSource::Kind::Node ? nodes()[source.index].once
                                                  : rewritten_.graph.inputSlots[source.index].ownedByDml;
  }

  // A node of the parameters' dimensions alone, with what it makes.
  struct Made {
    GraphSource source;
    Tensor tensor;
  };

  // `last` is the node that makes what `first` computes by now. False if nothing was done.
  bool fold(uint32_t first, uint32_t last, uint32_t second) {
    if (!nodes()[first].op || nodes()[first].once || !nodes()[second].op) return false;
    const OpView& op = *nodes()[first].op;
    const OpView& follower = *nodes()[second].op;
    const auto linear = linearOf(op);
    if (!linear) return false;
    // By value: nodes are added.
    const std::vector<GraphSource> given = nodes()[first].inputs;
    const std::vector<GraphSource> inputs = nodes()[second].inputs;
    const auto affine = affineOf(
        follower, static_cast<uint32_t>(std::ranges::find(inputs, GraphSource{GraphSource::Kind::Node, last, 0}) -
                                        inputs.begin()));
    if (!affine) return false;
    const auto channel = channelOf(op.output(), *linear, follower, *affine);
    if (!channel) return false;
    const bool hasBias = op.input(kBiasInput).present();
    const bool addsOnly = !affine->scales && !hasBias;
    for (const uint32_t p : affine->parameters)
      if (!isOnce(inputs[p]) && !(addsOnly && inputs[p].kind == GraphSource::Kind::GraphInput)) return false;
    if (!addsOnly) {
      // A weight that is rounded to FLOAT16 once more is as far off as a result may be.
      if (op.output().type != DML_TENSOR_DATA_TYPE_FLOAT32) return false;
      if (hasBias && !isOnce(given[kBiasInput])) return false;
      if (affine->scales && !isOnce(given[kWeightsInput])) return false;
    }

    const size_t before = nodes().size();
    std::optional<Made> weights, bias;
    if (affine->scales) {
      weights = apply(second, *affine, *channel, op.input(kWeightsInput), given[kWeightsInput], linear->weightsChannel,
                      false);
      if (!weights) return undo(before);
    }
    if (addsOnly) {
      const Tensor& vector = follower.input(affine->parameters[0]);
      Tensor sizes = op.output();
      std::ranges::fill(sizes.sizes, 1u);
      sizes.sizes[linear->channel] = op.output().sizes[linear->channel];
      bias = Made{inputs[affine->parameters[0]], parameter(vector, *channel, sizes, linear->channel, true)};
    } else if (hasBias || follower.schema().type == DML_OPERATOR_BATCH_NORMALIZATION) {
      Tensor from = op.output();
      if (hasBias) from = op.input(kBiasInput);
      for (uint32_t d = 0; d < from.rank; ++d) {
        if (hasBias ? from.strides[d] == 0 : d != linear->channel) from.sizes[d] = 1;
        if (!hasBias) from.strides[d] = 0;  // one zero for all
      }
      if (from.sizes[linear->channel] == 1) from.sizes[linear->channel] = op.output().sizes[linear->channel];
      const GraphSource source = hasBias ? given[kBiasInput] : zero();
      bias = apply(second, *affine, *channel, from, source, linear->channel, true);
      if (!bias) return undo(before);
    }
    return replace(first, second, *linear, weights, bias) || undo(before);
  }

  // The dimension of the parameters along which they belong to the channels of the results; no value if they vary in
  // another one, too, or the operator sees other tensors than what is made.
  static std::optional<uint32_t> channelOf(const Tensor& made, const Linear& linear, const OpView& op,
                                           const Affine& affine) {
    const Tensor& read = op.input(affine.input);
    const bool same = sameLayout(made, read);
    if (op.outputs().size() != 1 || op.output().type != made.type || !sameSizes(op.output(), read)) return {};
    // As rows of other sizes.
    if (!same && (read.type != made.type || read.elements != made.elements || !isPacked(made) || !isPacked(read) ||
                  !isPacked(op.output())))
      return {};
    const uint32_t size = made.sizes[linear.channel];
    uint32_t channel = linear.channel;
    if (!same) {
      const auto isChannel = [&](uint32_t d) {
        return read.sizes[d] == size && (size == 1 || read.strides[d] == made.strides[linear.channel]);
      };
      for (channel = 0; channel < read.rank && !isChannel(channel);) ++channel;
      if (channel == read.rank) return {};
    }
    for (const uint32_t p : affine.parameters) {
      const Tensor& parameter = op.input(p);
      if (parameter.type != made.type) return {};
      for (uint32_t d = 0; d < parameter.rank; ++d)
        if (d != channel && parameter.sizes[d] > 1 && parameter.strides[d] != 0) return {};
    }
    return channel;
  }

  // A parameter of each channel, described for another tensor.
  static Tensor parameter(const Tensor& given, uint32_t givenChannel, const Tensor& target, uint32_t channel,
                          bool broadcast) {
    Tensor tensor;
    tensor.type = given.type;
    tensor.rank = target.rank;
    tensor.ownedByDml = given.ownedByDml;
    for (uint32_t d = 0; d < target.rank; ++d) tensor.sizes[d] = broadcast || d == channel ? target.sizes[d] : 1;
    tensor.strides[channel] = given.sizes[givenChannel] > 1 ? given.strides[givenChannel] : 0;
    if (tensor.strides[channel] == 0 && !broadcast) tensor.sizes[channel] = 1;
    return tensor;
  }

  GraphSource zero() {
    GraphNode node;
    node.name = node.label = "zero";
    node.constant = kZero;
    node.once = true;
    nodes().push_back(std::move(node));
    return {GraphSource::Kind::Node, static_cast<uint32_t>(nodes().size() - 1), 0};
  }

  // A node that does to a tensor what an affine one does to each channel; without what it adds unless `adds`.
  std::optional<Made> apply(uint32_t affineNode, const Affine& affine, uint32_t givenChannel, const Tensor& target,
                            const GraphSource& source, uint32_t channel, bool adds) {
    const OpView& op = *nodes()[affineNode].op;
    const bool normalizes = op.schema().type == DML_OPERATOR_BATCH_NORMALIZATION;
    Made made{{}, packedTensor(target.type, target.sizeSpan())};
    const TensorDesc x(target), y(made.tensor);
    std::vector<GraphSource> inputs{source};
    std::array<std::optional<TensorDesc>, 4> descs;
    for (size_t p = 0; p < affine.parameters.size(); ++p) {
      const Tensor& given = op.input(affine.parameters[p]);
      inputs.push_back(nodes()[affineNode].inputs[affine.parameters[p]]);
      Tensor described = parameter(given, givenChannel, target, channel, !normalizes);
      if (const bool isAdded = normalizes && (p == 0 || p == 3); isAdded && !adds) {
        described = packedTensor(target.type, std::vector<uint32_t>(target.rank, 1));
        inputs.back() = zero();
      }
      descs[p].emplace(described);
    }
    OwnedDesc desc = [&] {
      if (normalizes) {
        DML_BATCH_NORMALIZATION_OPERATOR_DESC d = op.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>();
        d.InputTensor = x.get();
        d.MeanTensor = descs[0]->get();
        d.VarianceTensor = descs[1]->get();
        d.ScaleTensor = descs[2]->get();
        d.BiasTensor = descs[3]->get();
        d.OutputTensor = y.get();
        d.FusedActivation = nullptr;
        return OwnedDesc({DML_OPERATOR_BATCH_NORMALIZATION, &d});
      }
      const DML_ELEMENT_WISE_ADD_OPERATOR_DESC d{x.get(), descs[0]->get(), y.get()};
      return OwnedDesc({affine.scales ? DML_OPERATOR_ELEMENT_WISE_MULTIPLY : DML_OPERATOR_ELEMENT_WISE_ADD, &d});
    }();
    auto view = validate(desc.desc());
    if (!view) return {};
    GraphNode node;
    node.name = cat(nodes()[affineNode].name, adds ? " of the bias" : " of the weights");
    node.label = cat(nodes()[affineNode].label, adds ? " of the bias" : " of the weights");
    node.inputs = std::move(inputs);
    node.once = true;
    rewritten_.descs.push_back(std::move(desc));
    node.op = &rewritten_.views.emplace_back(std::move(*view));
    nodes().push_back(std::move(node));
    made.source = {GraphSource::Kind::Node, static_cast<uint32_t>(nodes().size() - 1), 0};
    return made;
  }

  bool undo(size_t count) {
    nodes().resize(count);
    return false;
  }

  // Gives the first node other weights and another bias, and what the second makes of its results besides.
  bool replace(uint32_t first, uint32_t second, const Linear& linear, const std::optional<Made>& weights,
               const std::optional<Made>& bias) {
    const OpView& op = *nodes()[first].op;
    const OpView& affine = *nodes()[second].op;
    OwnedDesc desc({op.schema().type, op.desc()});
    const auto fieldOf = [&](std::string_view name) -> const Field& {
      return *std::ranges::find(desc.schema().fields, name, &Field::name);
    };
    const bool gemm = op.schema().type == DML_OPERATOR_GEMM;
    const auto setTensor = [&](std::string_view name, const Tensor& tensor) {
      desc.field<const DML_TENSOR_DESC*>(fieldOf(name)) = copyOf(desc, tensor);
    };
    if (weights) setTensor(gemm ? "BTensor" : "FilterTensor", weights->tensor);
    if (bias) {
      Tensor tensor = bias->tensor;
      // Of a product it has the sizes of the results.
      for (uint32_t d = 0; gemm && d < tensor.rank; ++d)
        if (tensor.sizes[d] != op.output().sizes[d]) {
          tensor.sizes[d] = op.output().sizes[d];
          tensor.strides[d] = 0;
        }
      if (!gemm) std::ranges::fill(std::span(tensor.sizes).first(tensor.rank), 1u);
      tensor.sizes[linear.channel] = op.output().sizes[linear.channel];
      setTensor(gemm ? "CTensor" : "BiasTensor", tensor);
      if (gemm) desc.field<FLOAT>(fieldOf("Beta")) = 1;
    }
    if (sameSizes(affine.output(), op.output())) {
      Tensor result = affine.output();
      result.ownedByDml = false;
      desc.field<const DML_TENSOR_DESC*>(fieldOf("OutputTensor")) = copyOf(desc, result);
    }
    const auto fused = std::ranges::find(affine.schema().fields, FieldType::Operator, &Field::type);
    OwnedDesc copy({affine.schema().type, affine.desc()});
    if (fused != affine.schema().fields.end())
      desc.field<const DML_OPERATOR_DESC*>(fieldOf("FusedActivation")) = copy.field<const DML_OPERATOR_DESC*>(*fused);
    if (!validate(desc.desc())) return false;
    OwnedDesc whole(desc.desc());  // with what it takes over
    auto view = validate(whole.desc());
    GraphNode& node = nodes()[first];
    rewritten_.descs.push_back(std::move(whole));
    node.op = &rewritten_.views.emplace_back(std::move(*view));
    if (weights) node.inputs[kWeightsInput] = weights->source;
    if (bias) node.inputs[kBiasInput] = bias->source;
    node.name = cat(node.name, " with ", nodes()[second].name);
    node.label = cat(node.label, " with ", nodes()[second].label);
    return true;
  }

  static const DML_TENSOR_DESC* copyOf(OwnedDesc& desc, const Tensor& tensor) {
    auto* copy = desc.allocate<DML_TENSOR_DESC>(1);
    desc.setTensor(*copy, tensor.type, tensor.sizeSpan(), tensor.strideSpan(), 0,
                   tensor.ownedByDml ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE);
    return copy;
  }

  RewrittenGraph& rewritten_;
  std::vector<std::vector<uint32_t>> readers_;  // by node, UINT32_MAX for an output of the graph
  std::vector<uint32_t> into_;                  // by node: the one that took it in, or UINT32_MAX
};

}  // namespace

void foldWeights(RewrittenGraph& rewritten) { WeightFolder(rewritten).fold(); }

}  // namespace dimple
