#include "core/graph/passes/linear.h"

#include <algorithm>
#include <array>

#include "core/ops/chain.h"

namespace dimple {

std::optional<Linear> linearOf(const Operation& op) {
  if (op.activation().type != DML_OPERATOR_INVALID) return {};
  if (op.schema().type == DML_OPERATOR_CONVOLUTION) {
    const auto& desc = op.as<DML_CONVOLUTION_OPERATOR_DESC>();
    // Padding stays 0.
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

std::optional<Affine> affineOf(const Operation& op, uint32_t input) {
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

bool readsAsMade(const Tensor& made, const Operation& op, uint32_t input) {
  const Tensor& read = op.input(input);
  if (op.outputs().size() != 1 || op.output().type != made.type || !sameSizes(op.output(), read)) return false;
  if (sameLayout(made, read)) return true;
  return read.type == made.type && read.elements == made.elements && isPacked(made) && isPacked(read) &&
         isPacked(op.output());
}

std::optional<uint32_t> channelOf(const Tensor& made, const Linear& linear, const Operation& op, const Affine& affine) {
  const Tensor& read = op.input(affine.input);
  if (!readsAsMade(made, op, affine.input)) return {};
  const bool same = sameLayout(made, read);
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

Tensor asGiven(const Tensor& tensor) {
  const auto complete = withStrides(tensor, tensor.strideSpan());
  return complete ? *complete : tensor;
}

bool isOneElement(const Tensor& tensor) {
  return std::ranges::all_of(tensor.strideSpan(), [](uint32_t stride) { return stride == 0; });
}

std::optional<uint32_t> numberOf(const Place& from, const Tensor& tensor) {
  const Node* producer = from.producer();
  if (!producer || producer->op || from.offset != 0 || (tensor.elements != 1 && !isOneElement(tensor))) return {};
  if (producer->constant.size() < std::max<size_t>(1, byteWidth(tensor.type))) return {};
  return chainNumber(tensor.type, producer->constant.data());
}

Node& addZero(Graph& graph) {
  static constexpr std::array<std::byte, 4> kZero{};
  Node& node = graph.add("zero", "zero", nullptr);
  node.constant = kZero;
  node.runsAtInitialization = true;
  return node;
}

Node* onlyReader(const Node& node) {
  const Node* reader = nullptr;
  for (const Value& value : node.outputs()) {
    if (!value.graphOutputs.empty() || value.uses.size() > 1 || (reader && !value.uses.empty())) return nullptr;
    if (!value.uses.empty()) reader = value.uses[0].node;
  }
  return const_cast<Node*>(reader);
}

}  // namespace dimple
