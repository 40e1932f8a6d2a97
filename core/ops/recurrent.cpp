// Recurrent networks: RNN, LSTM and GRU.
#include <algorithm>
#include <vector>

#include "core/checked.h"
#include "core/op_view.h"
#include "core/ops/checks.h"
#include "core/ops/families.h"
#include "core/ops/table.h"
#include "core/plan_builder.h"

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

// What the plans of the three networks differ in.
struct NetworkPlan {
  uint32_t activations;               // of one direction
  std::vector<uint32_t> stepKernels;  // kinds of kernels/recurrent/step.comp that make a step, in order
  DML_RECURRENT_NETWORK_DIRECTION direction;
  size_t hiddenInit = 4, cellInit = 0, lengths = 5, peephole = 0;  // inputs; 0: it has none
  uint32_t recurrentRows;  // of a gate's rows, those whose recurrent bias is added to the projection
  bool clips = false;
  FLOAT clip = 0;
  bool couples = false;
};

// Kinds and flags of kernels/recurrent/step.comp.
constexpr uint32_t kStepRnn = 0;
constexpr uint32_t kStepGruLinear = 1;
constexpr uint32_t kStepGruGates = 2;
constexpr uint32_t kStepGruHidden = 3;
constexpr uint32_t kStepLstm = 4;
constexpr uint32_t kHasLengths = 1;
constexpr uint32_t kHasPeephole = 2;
constexpr uint32_t kHasBias = 4;
constexpr uint32_t kHasSequence = 8;  // and the bits after it, for the other outputs
constexpr uint32_t kClips = 64;
constexpr uint32_t kCouples = 128;

bool hasInput(const OpView& view, size_t index) { return index != 0 && view.input(index).present(); }

// Strides of the last two dimensions; 0 where the input is absent.
std::array<uint32_t, 2> lastStrides(const OpView& view, size_t index) {
  if (!hasInput(view, index)) return {};
  return {view.input(index).strides[2], view.input(index).strides[3]};
}

uint32_t stepFlags(const OpView& view, const NetworkPlan& network) {
  uint32_t flags = 0;
  if (hasInput(view, network.lengths)) flags |= kHasLengths;
  if (hasInput(view, network.peephole)) flags |= kHasPeephole;
  if (hasInput(view, 3)) flags |= kHasBias;
  if (network.clips) flags |= kClips;
  if (network.couples) flags |= kCouples;
  for (size_t i = 0; i < view.outputs().size(); ++i)
    if (view.output(i).present()) flags |= kHasSequence << i;
  return flags;
}

std::vector<uint32_t> stepParameters(const OpView& view, const NetworkPlan& network) {
  const Tensor& r = view.input(2);
  const auto bias = lastStrides(view, 3);
  const auto peephole = lastStrides(view, network.peephole);
  std::vector<uint32_t> words{r.strides[1], r.strides[2], r.strides[3], lastStrides(view, network.lengths)[1],
                              bias[0],      bias[1],      peephole[0],  peephole[1]};
  for (size_t i = 0; i < 3; ++i) {
    const std::array<uint32_t, kMaxRank> strides =
        i < view.outputs().size() ? view.output(i).strides : std::array<uint32_t, kMaxRank>{};
    // Those of one step have no stride of steps.
    words.insert(words.end(), strides.begin() + (i == 0 ? 0 : 1), strides.begin() + (i == 0 ? 4 : 5));
  }
  for (uint32_t d = 0; d < r.sizes[1]; ++d)
    for (uint32_t which = 0; which < 3; ++which) {
      const uint32_t given = std::min(which, network.activations - 1);
      const Activation& activation = view.activations()[d * network.activations + given];
      words.insert(words.end(), {static_cast<uint32_t>(activation.type), floatBits(activation.parameters[0]),
                                 floatBits(activation.parameters[1]), 0});
    }
  return words;
}

// The projections of all steps at once, then a dispatch or two a step, which read the state of the one before.
Result<Plan> planNetwork(const OpView& view, const Caps& caps, const NetworkPlan& network) {
  constexpr uint32_t kMostSteps = 1 << 16;
  constexpr uint32_t kTile = 16;           // of kernels/recurrent/project.comp
  constexpr uint32_t kItemsPerGroup = 16;  // of kernels/recurrent/step.comp
  PlanBuilder builder(view, caps);
  const Tensor& x = view.input(0);
  const Tensor& w = view.input(1);
  const Tensor& r = view.input(2);
  const uint32_t steps = x.sizes[1];
  const uint32_t batch = x.sizes[2];
  const uint32_t directions = r.sizes[1];
  const uint32_t rows = r.sizes[2];
  const uint32_t hidden = r.sizes[3];
  const uint64_t items = uint64_t{directions} * batch * hidden;
  if (steps > kMostSteps)
    return Error{ErrorCode::Unsupported, cat("InputTensor has Sizes[1] (", steps, "), but ", view.schema().name,
                                             " runs at most ", kMostSteps, " steps.")};

  // The state: projections, then arrays of an element each for (d, b, h).
  const uint64_t projections = uint64_t{directions} * steps * batch * rows;
  const uint64_t words = projections + 5 * items;
  if (words * 4 > caps.maxBufferRange)
    return Error{ErrorCode::Unsupported,
                 cat(view.schema().name, " needs ", words * 4, " bytes for its state, but this device binds at most ",
                     caps.maxBufferRange, " bytes to a kernel.")};
  const BufferRange state = builder.allocateTemporary(words * 4);
  const auto stateAt = [&](uint64_t array) { return static_cast<uint32_t>(projections + array * items); };

  // Absent tensors are bound others in their place, which the kernels leave alone.
  const auto inputOr = [&](size_t index) { return builder.input(hasInput(view, index) ? index : 2); };
  const auto outputOr = [&](size_t index) {
    return index < view.outputs().size() && view.output(index).present() ? builder.output(index) : state;
  };

  for (size_t array : {size_t{0}, size_t{2}}) {
    const size_t source = array == 0 ? network.hiddenInit : network.cellInit;
    if (array != 0 && source == 0) continue;
    Walk walk;
    if (hasInput(view, source)) {
      const Tensor* operands[] = {&view.input(source)};
      walk = makeWalk(view.input(source).sizeSpan(), operands);
      walk.coalesce();
    }
    if (auto error = builder.addItems(typedKernel("recurrent_state", x.type, caps), items,
                                      {static_cast<uint32_t>(items), walk.rank, stateAt(array), hasInput(view, source)},
                                      {inputOr(source), state}, builder.parameters(walk)))
      return *error;
  }

  const auto biasStrides = lastStrides(view, 3);
  const uint64_t elements = uint64_t{steps} * batch;
  if (auto error = builder.add(
          typedKernel("recurrent_project", x.type, caps),
          divideUp(elements, kTile) * divideUp(rows, kTile) * directions,
          {static_cast<uint32_t>(elements), batch, x.sizes[3], rows, hasInput(view, 3), network.recurrentRows * hidden},
          {builder.input(0), builder.input(1), inputOr(3), state},
          builder.parameters(std::vector<uint32_t>{x.strides[1], x.strides[2], x.strides[3], 0, w.strides[1],
                                                   w.strides[2], w.strides[3], 0, biasStrides[0], biasStrides[1], 0,
                                                   0})))
    return *error;

  const uint32_t flags = stepFlags(view, network);
  const uint32_t parametersAt = builder.parameters(stepParameters(view, network));
  const uint32_t firstBackward = network.direction == DML_RECURRENT_NETWORK_DIRECTION_FORWARD    ? directions
                                 : network.direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD ? 0
                                                                                                 : 1;
  const std::vector<BufferRange> buffers{
      state,       builder.input(2), inputOr(network.lengths), inputOr(3), inputOr(network.peephole), outputOr(0),
      outputOr(1), outputOr(2)};
  for (uint32_t step = 0; step < steps; ++step)
    for (const uint32_t kind : network.stepKernels)
      if (auto error = builder.add(
              typedKernel("recurrent_step", x.type, caps), divideUp(items, kItemsPerGroup),
              {step, steps, batch, hidden, directions, rows, flags, stateAt(step % 2), stateAt(1 - step % 2),
               stateAt(2), stateAt(3), stateAt(4), floatBits(network.clip), firstBackward},
              buffers, parametersAt, {{0, kind}}))
        return *error;
  return builder.finish();
}

Result<Plan> planRnn(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_RNN_OPERATOR_DESC>();
  return planNetwork(
      view, caps,
      {.activations = 1, .stepKernels = {kStepRnn}, .direction = desc.Direction, .recurrentRows = kRnnGates});
}

Result<Plan> planGru(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_GRU_OPERATOR_DESC>();
  const bool linear = desc.LinearBeforeReset != 0;
  return planNetwork(view, caps,
                     {.activations = 2,
                      .stepKernels = linear ? std::vector<uint32_t>{kStepGruLinear}
                                            : std::vector<uint32_t>{kStepGruGates, kStepGruHidden},
                      .direction = desc.Direction,
                      .recurrentRows = linear ? 2 : kGruGates});
}

Result<Plan> planLstm(const OpView& view, const Caps& caps) {
  const auto& desc = view.as<DML_LSTM_OPERATOR_DESC>();
  return planNetwork(view, caps,
                     {.activations = 3,
                      .stepKernels = {kStepLstm},
                      .direction = desc.Direction,
                      .cellInit = 5,
                      .lengths = 6,
                      .peephole = 7,
                      .recurrentRows = kLstmGates,
                      .clips = desc.UseClipThreshold != 0,
                      .clip = desc.ClipThreshold,
                      .couples = desc.CoupleInputForget != 0});
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

constexpr OpSchema kRecurrentSchemas[] = {
    DIMPLE_ROW(RNN, kRnnFields, kRnnRules, false, false, checkRnn, planRnn),
    DIMPLE_ROW(LSTM, kLstmFields, kLstmRules, false, false, checkLstm, planLstm),
    DIMPLE_ROW(GRU, kGruFields, kRnnRules, false, false, checkGru, planGru),
};

}  // namespace

std::span<const OpSchema> recurrentSchemas() { return kRecurrentSchemas; }

}  // namespace dimple
