// Recurrent networks: RNN, LSTM and GRU.
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"

namespace dimple {
namespace {

constexpr uint32_t kRnnGates = 1;
constexpr uint32_t kGruGates = 3;
constexpr uint32_t kLstmGates = 4;

// What the descriptions of the three networks have in common.
struct Network {
  uint32_t gates;
  uint32_t activations;  // of one direction
  UINT activationCount;
  DML_RECURRENT_NETWORK_DIRECTION direction;
};

// Tensors that are absent have no sizes to check.
Status checkPresent(const std::string& name, const Tensor& tensor, std::initializer_list<uint64_t> sizes) {
  if (!tensor.present()) return {};
  uint32_t dimension = 0;
  for (const uint64_t size : sizes)
    if (auto error = checkSize(name, tensor, dimension++, size)) return error;
  return {};
}

Status checkNetwork(const OpView& view, const Network& network) {
  const uint64_t directions = network.direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  const auto check = [&](size_t input, std::initializer_list<uint64_t> sizes) {
    return checkPresent(view.inputName(input), view.input(input), sizes);
  };
  const Tensor& x = view.input(0);
  const uint64_t steps = x.sizes[1];
  const uint64_t batch = x.sizes[2];
  const uint64_t hidden = view.input(2).sizes[3];
  if (auto error = check(0, {1, steps, batch, x.sizes[3]})) return error;
  if (auto error = check(1, {1, directions, network.gates * hidden, x.sizes[3]})) return error;
  if (auto error = check(2, {1, directions, network.gates * hidden, hidden})) return error;
  if (auto error = check(3, {1, 1, directions, 2 * network.gates * hidden})) return error;
  const bool isLstm = network.gates == kLstmGates;
  const size_t lengths = isLstm ? 6 : 5;
  for (size_t i = 4; i < lengths; ++i)
    if (auto error = check(i, {1, directions, batch, hidden})) return error;
  if (auto error = check(lengths, {1, 1, 1, batch})) return error;
  if (isLstm)
    if (auto error = check(7, {1, 1, directions, 3 * hidden})) return error;
  if (!view.output(0).present() && !view.output(1).present())
    return invalid("OutputSequenceTensor is null, expected it or OutputSingleTensor.");
  for (size_t i = 0; i < view.outputs().size(); ++i)
    if (auto error = checkPresent(view.outputName(i), view.output(i), {i == 0 ? steps : 1, directions, batch, hidden}))
      return error;
  if (network.activationCount == network.activations * directions) return {};
  return invalid(cat("ActivationDescCount has value (", network.activationCount, "), expected ",
                     network.activations * directions, "."));
}

Status checkRnn(const OpView& view) {
  const auto& desc = view.as<DML_RNN_OPERATOR_DESC>();
  return checkNetwork(view, {kRnnGates, 1, desc.ActivationDescCount, desc.Direction});
}

Status checkGru(const OpView& view) {
  const auto& desc = view.as<DML_GRU_OPERATOR_DESC>();
  return checkNetwork(view, {kGruGates, 2, desc.ActivationDescCount, desc.Direction});
}

Status checkLstm(const OpView& view) {
  const auto& desc = view.as<DML_LSTM_OPERATOR_DESC>();
  return checkNetwork(view, {kLstmGates, 3, desc.ActivationDescCount, desc.Direction});
}

template <class S>
constexpr Field kRnnFields[] = {DIMPLE_INPUT(S, InputTensor),
                                DIMPLE_INPUT(S, WeightTensor),
                                DIMPLE_INPUT(S, RecurrenceTensor),
                                DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                DIMPLE_OPTIONAL_INPUT(S, HiddenInitTensor),
                                DIMPLE_OPTIONAL_INPUT(S, SequenceLengthsTensor),
                                DIMPLE_OPTIONAL_OUTPUT(S, OutputSequenceTensor),
                                DIMPLE_OPTIONAL_OUTPUT(S, OutputSingleTensor),
                                DIMPLE_ATTRIBUTE(S, ActivationDescCount, UInt),
                                DIMPLE_ARRAY(S, ActivationDescs, OperatorArray, 8),
                                DIMPLE_ENUM(S, Direction, kRecurrentNetworkDirections)};
template <class S>
constexpr Field kLstmFields[] = {DIMPLE_INPUT(S, InputTensor),
                                 DIMPLE_INPUT(S, WeightTensor),
                                 DIMPLE_INPUT(S, RecurrenceTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, HiddenInitTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, CellMemInitTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, SequenceLengthsTensor),
                                 DIMPLE_OPTIONAL_INPUT(S, PeepholeTensor),
                                 DIMPLE_OPTIONAL_OUTPUT(S, OutputSequenceTensor),
                                 DIMPLE_OPTIONAL_OUTPUT(S, OutputSingleTensor),
                                 DIMPLE_OPTIONAL_OUTPUT(S, OutputCellSingleTensor),
                                 DIMPLE_ATTRIBUTE(S, ActivationDescCount, UInt),
                                 DIMPLE_ARRAY(S, ActivationDescs, OperatorArray, 11),
                                 DIMPLE_ENUM(S, Direction, kRecurrentNetworkDirections),
                                 DIMPLE_ATTRIBUTE(S, ClipThreshold, Float),
                                 DIMPLE_ATTRIBUTE(S, UseClipThreshold, Bool),
                                 DIMPLE_ATTRIBUTE(S, CoupleInputForget, Bool)};
template <class S>
constexpr Field kGruFields[] = {DIMPLE_INPUT(S, InputTensor),
                                DIMPLE_INPUT(S, WeightTensor),
                                DIMPLE_INPUT(S, RecurrenceTensor),
                                DIMPLE_OPTIONAL_INPUT(S, BiasTensor),
                                DIMPLE_OPTIONAL_INPUT(S, HiddenInitTensor),
                                DIMPLE_OPTIONAL_INPUT(S, SequenceLengthsTensor),
                                DIMPLE_OPTIONAL_OUTPUT(S, OutputSequenceTensor),
                                DIMPLE_OPTIONAL_OUTPUT(S, OutputSingleTensor),
                                DIMPLE_ATTRIBUTE(S, ActivationDescCount, UInt),
                                DIMPLE_ARRAY(S, ActivationDescs, OperatorArray, 8),
                                DIMPLE_ENUM(S, Direction, kRecurrentNetworkDirections),
                                DIMPLE_ATTRIBUTE(S, LinearBeforeReset, Bool)};

constexpr TypeHistory kRnnTypes{{k1_0, kFloats, 4, 4}};
constexpr TypeHistory kRnnSequenceLengthsTypes{{k1_0, kUInt32, 4, 4}};

// Not even the weights may be owned by DirectML.
constexpr TensorRule kRnnRules[] = {{kRnnTypes, {}, false},          {kRnnTypes, sameType(0), false},
                                    {kRnnTypes, sameType(0), false}, {kRnnTypes, sameType(0), false},
                                    {kRnnTypes, sameType(0), false}, {kRnnSequenceLengthsTypes, {}, false},
                                    {kRnnTypes, sameType(0)},        {kRnnTypes, sameType(0)}};
constexpr TensorRule kLstmRules[] = {{kRnnTypes, {}, false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnSequenceLengthsTypes, {}, false},
                                     {kRnnTypes, sameType(0), false},
                                     {kRnnTypes, sameType(0)},
                                     {kRnnTypes, sameType(0)},
                                     {kRnnTypes, sameType(0)}};

constexpr OpSchema kSchemas[] = {
    DIMPLE_ROW(RNN, kRnnFields, kRnnRules, false, false, checkRnn, nullptr),
    DIMPLE_ROW(LSTM, kLstmFields, kLstmRules, false, false, checkLstm, nullptr),
    DIMPLE_ROW(GRU, kGruFields, kRnnRules, false, false, checkGru, nullptr),
};

}  // namespace

std::span<const OpSchema> recurrentSchemas() { return kSchemas; }

}  // namespace dimple
