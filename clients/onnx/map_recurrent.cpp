// RNN, GRU and LSTM.
#include <algorithm>
#include <cctype>
#include <deque>

#include "clients/onnx/map_helpers.h"

namespace dimple::onnx {
namespace {

// The activations of a node, and the parameters that DirectML takes by address.
struct Activations {
  struct Parameters {
    const DML_TENSOR_DESC* input = nullptr;
    const DML_TENSOR_DESC* output = nullptr;
    FLOAT values[2] = {0, 0};
  };
  std::deque<Parameters> parameters;
  std::vector<DML_OPERATOR_DESC> descs;
};

struct ActivationKind {
  const char* name;
  DML_OPERATOR_TYPE type;
  int count;  // of parameters: Alpha, Beta
  float alpha, beta;
};

constexpr ActivationKind kActivations[] = {
    {"affine", DML_OPERATOR_ACTIVATION_LINEAR, 2, 1, 0},
    {"elu", DML_OPERATOR_ACTIVATION_ELU, 1, 1, 0},
    {"hardsigmoid", DML_OPERATOR_ACTIVATION_HARD_SIGMOID, 2, 0.2f, 0.5f},
    {"leakyrelu", DML_OPERATOR_ACTIVATION_LEAKY_RELU, 1, 0.01f, 0},
    {"relu", DML_OPERATOR_ACTIVATION_RELU, 0, 0, 0},
    {"scaledtanh", DML_OPERATOR_ACTIVATION_SCALED_TANH, 2, 1, 1},
    {"sigmoid", DML_OPERATOR_ACTIVATION_SIGMOID, 0, 0, 0},
    {"softplus", DML_OPERATOR_ACTIVATION_SOFTPLUS, 1, 1, 0},
    {"softsign", DML_OPERATOR_ACTIVATION_SOFTSIGN, 0, 0, 0},
    {"tanh", DML_OPERATOR_ACTIVATION_TANH, 0, 0, 0},
    {"thresholdedrelu", DML_OPERATOR_ACTIVATION_THRESHOLDED_RELU, 1, 1, 0},
};

static_assert(sizeof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC) == sizeof(Activations::Parameters) &&
                  offsetof(DML_ACTIVATION_HARD_SIGMOID_OPERATOR_DESC, Alpha) ==
                      offsetof(Activations::Parameters, values),
              "all activations begin with two tensors, and their numbers follow");

Activations readActivations(const NodeContext& node, const std::vector<std::string>& defaults, size_t directions) {
  std::vector<std::string> names = node.attributes().texts("activations");
  if (names.empty())
    for (size_t i = 0; i < directions; ++i) names.insert(names.end(), defaults.begin(), defaults.end());
  // The standard's default of RNN is for two directions, which ONNX Runtime gives for one.
  if (directions == 1 && names == std::vector<std::string>{"Tanh", "Tanh"}) names.resize(defaults.size());
  if (names.size() != directions * defaults.size())
    throw ModelError(
        cat("Attribute activations has ", names.size(), " names, expected ", directions * defaults.size(), "."));
  const std::vector<float> alphas = node.attributes().reals("activation_alpha");
  const std::vector<float> betas = node.attributes().reals("activation_beta");
  size_t alpha = 0, beta = 0;
  Activations activations;
  for (std::string name : names) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto kind = std::ranges::find_if(kActivations, [&](const auto& known) { return name == known.name; });
    if (kind == std::end(kActivations)) throw ModelError(cat("Activation \"", name, "\" is not known."));
    auto& parameters = activations.parameters.emplace_back();
    // A list of numbers serves the activations that take one, in their order.
    const bool takesAlpha = kind->count > 0 && kind->type != DML_OPERATOR_ACTIVATION_SOFTPLUS;
    parameters.values[0] = takesAlpha && alpha < alphas.size() ? alphas[alpha++] : kind->alpha;
    parameters.values[1] = kind->count > 1 && beta < betas.size() ? betas[beta++] : kind->beta;
    activations.descs.push_back({kind->type, &parameters});
  }
  return activations;
}

// The properties that the three operators share.
struct Recurrence {
  NodeContext& node;
  int64_t steps = 0, batch = 0, hidden = 0, directions = 1;
  bool batchFirst = false;
  DML_RECURRENT_NETWORK_DIRECTION direction = DML_RECURRENT_NETWORK_DIRECTION_FORWARD;
  Type type = Type::Undefined;

  explicit Recurrence(NodeContext& context) : node(context) {
    const std::string text = node.attributes().text("direction", "forward");
    if (text == "reverse")
      direction = DML_RECURRENT_NETWORK_DIRECTION_BACKWARD;
    else if (text == "bidirectional")
      direction = DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL;
    else if (text != "forward")
      throw ModelError(cat("Attribute direction is \"", text, "\", expected forward, reverse or bidirectional."));
    directions = direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL ? 2 : 1;
    batchFirst = node.attributes().flag("layout");
    const Value& x = node.input(0);
    const Value& recurrence = node.input(2);
    if (x.rank() != 3 || recurrence.rank() != 3)
      throw ModelError(cat("Inputs 0 and 2 have sizes ", listText(x.sizes), " and ", listText(recurrence.sizes),
                           ", expected three dimensions."));
    steps = x.sizes[batchFirst ? 1 : 0];
    batch = x.sizes[batchFirst ? 0 : 1];
    hidden = recurrence.sizes[2];
    type = x.type;
  }

  GraphBuilder& graph() const { return node.graph(); }
  // DirectML keeps no tensors of these operators.
  Value four(const Value& value) const { return graph().padRank(graph().unowned(value), 4); }
  Value sequence() const {
    const Value& x = node.input(0);
    return four(batchFirst ? graph().transpose(x, {1, 0, 2}) : x);
  }
  Value weights(size_t index) const { return four(node.input(index)); }
  std::optional<Value> optional(size_t index) const {
    return node.has(index) ? std::optional(four(node.input(index))) : std::nullopt;
  }
  std::optional<Value> state(size_t index) const {
    if (!node.has(index)) return {};
    const Value& value = node.input(index);
    return four(batchFirst && value.rank() == 3 ? graph().transpose(value, {1, 0, 2}) : value);
  }
  std::optional<Value> lengths(size_t index) const {
    return node.has(index) ? std::optional(four(cast(graph(), node.input(index), Type::UInt32))) : std::nullopt;
  }
  const DML_TENSOR_DESC* sequenceOutput(Op& op) const {
    return node.wants(0) ? op.output(type, {steps, directions, batch, hidden}) : op.absentOutput();
  }
  const DML_TENSOR_DESC* stateOutput(Op& op, size_t index) const {
    return node.wants(index) ? op.output(type, {1, directions, batch, hidden}) : op.absentOutput();
  }
  void setOutputs(const Op& op, size_t count) const {
    if (node.wants(0)) {
      const Value& y = op.result(0);
      node.setOutput(0, batchFirst ? graph().transpose(y, {2, 0, 1, 3}) : y);
    }
    for (size_t i = 1; i < count; ++i) {
      if (!node.wants(i)) continue;
      const Value state = graph().reshape(op.result(i), {directions, batch, hidden});
      node.setOutput(i, batchFirst ? graph().transpose(state, {1, 0, 2}) : state);
    }
  }
};

void refuseClip(const NodeContext& node) {
  if (node.attributes().has("clip")) throw ModelError("Attribute clip is given, which DirectML has only for LSTM.");
}

template <class Desc>
void describeCommon(Desc& desc, Op& op, const Recurrence& recurrence, const std::vector<Value>& required,
                    const std::optional<Value>& bias, const std::optional<Value>& hidden) {
  desc.InputTensor = op.input(required[0]);
  desc.WeightTensor = op.input(required[1]);
  desc.RecurrenceTensor = op.input(required[2]);
  desc.BiasTensor = op.optionalInput(bias);
  desc.HiddenInitTensor = op.optionalInput(hidden);
  desc.Direction = recurrence.direction;
}

template <class Desc, DML_OPERATOR_TYPE type>
void mapSimple(NodeContext& node, const std::vector<std::string>& activationNames, auto&& adjust) {
  refuseClip(node);
  const Recurrence recurrence(node);
  const Activations activations = readActivations(node, activationNames, static_cast<size_t>(recurrence.directions));
  const std::vector<Value> required = {recurrence.sequence(), recurrence.weights(1), recurrence.weights(2)};
  const auto bias = recurrence.optional(3);
  const auto lengths = recurrence.lengths(4);
  const auto hidden = recurrence.state(5);
  Op op(node.graph());
  Desc desc{};
  describeCommon(desc, op, recurrence, required, bias, hidden);
  desc.SequenceLengthsTensor = op.optionalInput(lengths);
  desc.OutputSequenceTensor = recurrence.sequenceOutput(op);
  desc.OutputSingleTensor = recurrence.stateOutput(op, 1);
  desc.ActivationDescCount = static_cast<UINT>(activations.descs.size());
  desc.ActivationDescs = activations.descs.data();
  adjust(desc);
  op.make(type, desc);
  recurrence.setOutputs(op, 2);
}

void mapRnn(NodeContext& node) {
  mapSimple<DML_RNN_OPERATOR_DESC, DML_OPERATOR_RNN>(node, {"Tanh"}, [](auto&) {});
}

void mapGru(NodeContext& node) {
  mapSimple<DML_GRU_OPERATOR_DESC, DML_OPERATOR_GRU>(node, {"Sigmoid", "Tanh"}, [&](auto& desc) {
    desc.LinearBeforeReset = node.attributes().flag("linear_before_reset");
  });
}

void mapLstm(NodeContext& node) {
  const Recurrence recurrence(node);
  const Activations activations =
      readActivations(node, {"Sigmoid", "Tanh", "Tanh"}, static_cast<size_t>(recurrence.directions));
  const std::vector<Value> required = {recurrence.sequence(), recurrence.weights(1), recurrence.weights(2)};
  const auto bias = recurrence.optional(3);
  const auto lengths = recurrence.lengths(4);
  const auto hidden = recurrence.state(5);
  const auto cell = recurrence.state(6);
  const auto peephole = recurrence.optional(7);
  Op op(node.graph());
  DML_LSTM_OPERATOR_DESC desc{};
  describeCommon(desc, op, recurrence, required, bias, hidden);
  desc.CellMemInitTensor = op.optionalInput(cell);
  desc.SequenceLengthsTensor = op.optionalInput(lengths);
  desc.PeepholeTensor = op.optionalInput(peephole);
  desc.OutputSequenceTensor = recurrence.sequenceOutput(op);
  desc.OutputSingleTensor = recurrence.stateOutput(op, 1);
  desc.OutputCellSingleTensor = recurrence.stateOutput(op, 2);
  desc.ActivationDescCount = static_cast<UINT>(activations.descs.size());
  desc.ActivationDescs = activations.descs.data();
  desc.UseClipThreshold = node.attributes().has("clip");
  desc.ClipThreshold = node.attributes().real("clip", 0);
  desc.CoupleInputForget = node.attributes().flag("input_forget");
  op.make(DML_OPERATOR_LSTM, desc);
  recurrence.setOutputs(op, 3);
}

constexpr Mapping kRecurrentMappings[] = {
    {kOnnx, "GRU", 7, mapGru},
    {kOnnx, "LSTM", 7, mapLstm},
    {kOnnx, "RNN", 7, mapRnn},
};

}  // namespace

std::span<const Mapping> recurrentMappings() { return kRecurrentMappings; }

}  // namespace dimple::onnx
