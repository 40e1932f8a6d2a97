// Recurrent networks: RNN, LSTM and GRU.
#include <algorithm>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/recurrent_project.h"
#include "kernels/interfaces/recurrent_state.h"
#include "kernels/interfaces/recurrent_step.h"

namespace dimple {
namespace {

constexpr uint32_t kRnnGates = 1;
constexpr uint32_t kGruGates = 3;
constexpr uint32_t kLstmGates = 4;
constexpr size_t kHiddenInit = 4;  // its place among the inputs

// Kinds of kernels/recurrent/step.comp.
constexpr uint32_t kStepRnn = 0;
constexpr uint32_t kStepGruLinear = 1;
constexpr uint32_t kStepGruGates = 2;
constexpr uint32_t kStepGruHidden = 3;
constexpr uint32_t kStepLstm = 4;

// What the three networks differ in.
struct Network {
  uint32_t gates;
  uint32_t activations;  // of one direction
  UINT activationCount;
  DML_RECURRENT_NETWORK_DIRECTION direction;
  std::vector<uint32_t> stepKernels;  // that make a step, in order
  uint32_t recurrentRows;             // of a gate's rows, those whose recurrent bias is added to the projection
  size_t cellInit = 0, lengths = 5, peephole = 0;  // inputs; 0: it has none
  bool clips = false;
  FLOAT clip = 0;
  bool couples = false;
};

Network networkOf(const DML_RNN_OPERATOR_DESC& desc) {
  return {kRnnGates, 1, desc.ActivationDescCount, desc.Direction, {kStepRnn}, kRnnGates};
}

Network networkOf(const DML_GRU_OPERATOR_DESC& desc) {
  if (desc.LinearBeforeReset) return {kGruGates, 2, desc.ActivationDescCount, desc.Direction, {kStepGruLinear}, 2};
  return {kGruGates, 2, desc.ActivationDescCount, desc.Direction, {kStepGruGates, kStepGruHidden}, kGruGates};
}

Network networkOf(const DML_LSTM_OPERATOR_DESC& desc) {
  return {.gates = kLstmGates,
          .activations = 3,
          .activationCount = desc.ActivationDescCount,
          .direction = desc.Direction,
          .stepKernels = {kStepLstm},
          .recurrentRows = kLstmGates,
          .cellInit = 5,
          .lengths = 6,
          .peephole = 7,
          .clips = desc.UseClipThreshold != 0,
          .clip = desc.ClipThreshold,
          .couples = desc.CoupleInputForget != 0};
}

// Tensors that are absent have no sizes to check.
Status checkPresent(const std::string& name, const Tensor& tensor, std::initializer_list<uint64_t> sizes) {
  if (!tensor.present()) return {};
  uint32_t dimension = 0;
  for (const uint64_t size : sizes) TRY(checkSize(name, tensor, dimension++, size));
  return {};
}

Status checkNetwork(const Operation& op, const Network& network) {
  const uint64_t directions = network.direction == DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  const auto check = [&](size_t input, std::initializer_list<uint64_t> sizes) {
    return checkPresent(op.inputName(input), op.input(input), sizes);
  };
  const Tensor& x = op.input(0);
  const uint64_t steps = x.sizes[1];
  const uint64_t batch = x.sizes[2];
  const uint64_t hidden = op.input(2).sizes[3];
  TRY(check(0, {1, steps, batch, x.sizes[3]}));
  TRY(check(1, {1, directions, network.gates * hidden, x.sizes[3]}));
  TRY(check(2, {1, directions, network.gates * hidden, hidden}));
  TRY(check(3, {1, 1, directions, 2 * network.gates * hidden}));
  for (size_t i = kHiddenInit; i < network.lengths; ++i) TRY(check(i, {1, directions, batch, hidden}));
  TRY(check(network.lengths, {1, 1, 1, batch}));
  if (network.peephole) TRY(check(network.peephole, {1, 1, directions, 3 * hidden}));
  if (!op.output(0).present() && !op.output(1).present())
    return invalid("OutputSequenceTensor is null, expected it or OutputSingleTensor.");
  for (size_t i = 0; i < op.outputs().size(); ++i)
    TRY(checkPresent(op.outputName(i), op.output(i), {i == 0 ? steps : 1, directions, batch, hidden}));
  if (network.activationCount == network.activations * directions) return {};
  return invalid(cat("ActivationDescCount has value (", network.activationCount, "), expected ",
                     network.activations * directions, "."));
}

template <class S>
Status checkNetwork(const Operation& op) {
  return checkNetwork(op, networkOf(op.as<S>()));
}

// Flags of kernels/recurrent/step.comp.
constexpr uint32_t kHasLengths = 1;
constexpr uint32_t kHasPeephole = 2;
constexpr uint32_t kHasBias = 4;
constexpr uint32_t kHasSequence = 8;  // and the bits after it, for the other outputs
constexpr uint32_t kClips = 64;
constexpr uint32_t kCouples = 128;

bool hasInput(const Operation& op, size_t index) { return index != 0 && op.input(index).present(); }

// Strides of the last two dimensions; 0 where the input is absent.
std::array<uint32_t, 2> lastStrides(const Operation& op, size_t index) {
  if (!hasInput(op, index)) return {};
  return {op.input(index).strides[2], op.input(index).strides[3]};
}

uint32_t stepFlags(const Operation& op, const Network& network) {
  uint32_t flags = 0;
  if (hasInput(op, network.lengths)) flags |= kHasLengths;
  if (hasInput(op, network.peephole)) flags |= kHasPeephole;
  if (hasInput(op, 3)) flags |= kHasBias;
  if (network.clips) flags |= kClips;
  if (network.couples) flags |= kCouples;
  for (size_t i = 0; i < op.outputs().size(); ++i)
    if (op.output(i).present()) flags |= kHasSequence << i;
  return flags;
}

std::vector<uint32_t> stepParameters(const Operation& op, const Network& network) {
  const Tensor& r = op.input(2);
  const auto bias = lastStrides(op, 3);
  const auto peephole = lastStrides(op, network.peephole);
  std::vector<uint32_t> words{r.strides[1], r.strides[2], r.strides[3], lastStrides(op, network.lengths)[1],
                              bias[0],      bias[1],      peephole[0],  peephole[1]};
  for (size_t i = 0; i < 3; ++i) {
    const std::array<uint32_t, kMaxRank> strides =
        i < op.outputs().size() ? op.output(i).strides : std::array<uint32_t, kMaxRank>{};
    // Those of one step have no stride of steps.
    words.insert(words.end(), strides.begin() + (i == 0 ? 0 : 1), strides.begin() + (i == 0 ? 4 : 5));
  }
  for (uint32_t d = 0; d < r.sizes[1]; ++d)
    for (uint32_t which = 0; which < 3; ++which) {
      const uint32_t given = std::min(which, network.activations - 1);
      const Activation& activation = op.activations()[d * network.activations + given];
      words.insert(words.end(), {static_cast<uint32_t>(activation.type), floatBits(activation.parameters[0]),
                                 floatBits(activation.parameters[1]), 0});
    }
  return words;
}

// Where the parts of the state are, in elements: projections, then arrays of an element each for (d, b, h).
struct StateLayout {
  enum Array : uint32_t { Hidden, NextHidden, Cell, Update, Reset, Count };

  uint64_t projections;
  uint64_t items;  // of an array

  uint64_t bytes() const { return (projections + Count * items) * 4; }
  uint32_t at(uint32_t array) const { return static_cast<uint32_t>(projections + array * items); }
};

// The projections of all steps at once, then a dispatch or two a step, which read the state of the one before. Absent
// tensors are bound others in their place, which the kernels leave alone.
class NetworkBuilder {
 public:
  NetworkBuilder(const Operation& op, PlanBuilder& builder, const Network& network)
      : builder_(builder),
        network_(network),
        x_(op.input(0)),
        r_(op.input(2)),
        layout_{uint64_t{r_.sizes[1]} * x_.sizes[1] * x_.sizes[2] * r_.sizes[2],
                uint64_t{r_.sizes[1]} * x_.sizes[2] * r_.sizes[3]} {}

  Status make() {
    TRY(checkLimits());
    state_ = builder_.allocateTemporary(layout_.bytes());
    TRY(addInitialState(StateLayout::Hidden, kHiddenInit));
    if (network_.cellInit != 0) TRY(addInitialState(StateLayout::Cell, network_.cellInit));
    TRY(addProjections());
    return addSteps();
  }

 private:
  const Operation& op() const { return builder_.op(); }
  KernelElement element() const { return builder_.typedElement(x_.type); }
  uint32_t steps() const { return x_.sizes[1]; }
  uint32_t batch() const { return x_.sizes[2]; }
  uint32_t directions() const { return r_.sizes[1]; }
  uint32_t rows() const { return r_.sizes[2]; }
  uint32_t hidden() const { return r_.sizes[3]; }

  BufferRange inputOr(size_t index) const { return builder_.input(hasInput(op(), index) ? index : 2); }
  BufferRange outputOr(size_t index) const {
    return index < op().outputs().size() && op().output(index).present() ? builder_.output(index) : state_;
  }

  Status checkLimits() const {
    constexpr uint32_t kMaxSteps = 1 << 16;
    if (steps() > kMaxSteps)
      return Error{ErrorCode::Unsupported, cat("InputTensor has Sizes[1] (", steps(), "), but ", op().schema().name,
                                               " runs at most ", kMaxSteps, " steps.")};
    const uint64_t bytes = layout_.bytes();
    return builder_.checkBindable(bytes, cat(op().schema().name, " needs ", bytes, " bytes for its state"));
  }

  // Of the input `source`, or zeros if it is absent.
  Status addInitialState(StateLayout::Array array, size_t source) {
    Walk walk;
    if (hasInput(op(), source)) walk = makeWalk(op().input(source).sizeSpan(), {&op().input(source)}).coalesce();
    return builder_.addItems(
        kernels::RecurrentState{.type = element(),
                                .push = {.walk = {.count = static_cast<uint32_t>(layout_.items), .rank = walk.rank},
                                         .target = layout_.at(array),
                                         .present = hasInput(op(), source)},
                                .x = inputOr(source),
                                .state = state_},
        layout_.items, builder_.parameters(walk), 1);
  }

  Status addProjections() {
    constexpr uint32_t kTile = 16;  // of kernels/recurrent/project.comp
    const Tensor& w = op().input(1);
    const auto biasStrides = lastStrides(op(), 3);
    const uint64_t elements = uint64_t{steps()} * batch();
    return builder_.add(
        kernels::RecurrentProject{.type = element(),
                                  .push = {.elements = static_cast<uint32_t>(elements),
                                           .batch = batch(),
                                           .inputs = x_.sizes[3],
                                           .rows = rows(),
                                           .hasBias = hasInput(op(), 3),
                                           .recurrentRows = network_.recurrentRows * hidden()},
                                  .x = builder_.input(0),
                                  .w = builder_.input(1),
                                  .bias = inputOr(3),
                                  .state = state_},
        divideUp(elements, kTile) * divideUp(rows(), kTile) * directions(),
        builder_.parameters(std::vector<uint32_t>{x_.strides[1], x_.strides[2], x_.strides[3], 0, w.strides[1],
                                                  w.strides[2], w.strides[3], 0, biasStrides[0], biasStrides[1], 0, 0}),
        Work(elements) * rows() * directions() * x_.sizes[3]);
  }

  uint32_t firstBackward() const {
    if (network_.direction == DML_RECURRENT_NETWORK_DIRECTION_FORWARD) return directions();
    return network_.direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD ? 0 : 1;
  }

  Status addSteps() {
    constexpr uint32_t kItemsPerGroup = 16;  // of kernels/recurrent/step.comp
    const uint32_t flags = stepFlags(op(), network_);
    const uint32_t parameters = builder_.parameters(stepParameters(op(), network_));
    for (uint32_t step = 0; step < steps(); ++step)
      for (const uint32_t kind : network_.stepKernels) {
        TRY(builder_.add(kernels::RecurrentStep{.type = element(),
                                                .push = {.step1 = step,
                                                         .steps = steps(),
                                                         .batch = batch(),
                                                         .hidden = hidden(),
                                                         .directions = directions(),
                                                         .rows = rows(),
                                                         .flags = flags,
                                                         .hiddenFrom = layout_.at(step % 2),
                                                         .hiddenTo = layout_.at(1 - step % 2),
                                                         .cellAt = layout_.at(StateLayout::Cell),
                                                         .updateAt = layout_.at(StateLayout::Update),
                                                         .resetAt = layout_.at(StateLayout::Reset),
                                                         .clip = floatBits(network_.clip),
                                                         .firstBackward = firstBackward()},
                                                .spec = {.kind = kind},
                                                .state = state_,
                                                .r = builder_.input(2),
                                                .lengths = inputOr(network_.lengths),
                                                .bias = inputOr(3),
                                                .peephole = inputOr(network_.peephole),
                                                .sequence = outputOr(0),
                                                .single = outputOr(1),
                                                .cell = outputOr(2)},
                         divideUp(layout_.items, kItemsPerGroup), parameters,
                         Work(layout_.items) * network_.gates * hidden()));
      }
    return {};
  }

  PlanBuilder& builder_;
  const Network network_;
  const Tensor& x_;
  const Tensor& r_;
  const StateLayout layout_;
  BufferRange state_{};
};

template <class S>
Status planNetwork(const Operation& op, PlanBuilder& builder) {
  return NetworkBuilder(op, builder, networkOf(op.as<S>())).make();
}

// `count` is the index of ActivationDescCount.
#define DIMPLE_NETWORK_INPUTS \
  DIMPLE_INPUT(InputTensor, WeightTensor, RecurrenceTensor), DIMPLE_OPTIONAL_INPUT(BiasTensor, HiddenInitTensor)
#define DIMPLE_NETWORK_ATTRIBUTES(count)                                           \
  DIMPLE_UINT(ActivationDescCount), DIMPLE_OPERATOR_ARRAY(count, ActivationDescs), \
      DIMPLE_ENUM(Direction, kRecurrentNetworkDirections)
#define DIMPLE_NETWORK                                                 \
  DIMPLE_NETWORK_INPUTS, DIMPLE_OPTIONAL_INPUT(SequenceLengthsTensor), \
      DIMPLE_OPTIONAL_OUTPUT(OutputSequenceTensor, OutputSingleTensor), DIMPLE_NETWORK_ATTRIBUTES(8)

DIMPLE_FIELDS(kRnnFields, DIMPLE_NETWORK);
DIMPLE_FIELDS(kLstmFields, DIMPLE_NETWORK_INPUTS,
              DIMPLE_OPTIONAL_INPUT(CellMemInitTensor, SequenceLengthsTensor, PeepholeTensor),
              DIMPLE_OPTIONAL_OUTPUT(OutputSequenceTensor, OutputSingleTensor, OutputCellSingleTensor),
              DIMPLE_NETWORK_ATTRIBUTES(11), DIMPLE_FLOAT(ClipThreshold),
              DIMPLE_BOOL(UseClipThreshold, CoupleInputForget));
DIMPLE_FIELDS(kGruFields, DIMPLE_NETWORK, DIMPLE_BOOL(LinearBeforeReset));

// Not even the weights may be owned by DirectML.
constexpr TypeHistory kNetworkTypes{{k1_0, kFloats, 4, 4}};
constexpr TensorRule kX{kNetworkTypes, {}, false};
constexpr TensorRule kLikeX{kNetworkTypes, sameType(0), false};
constexpr TensorRule kLengths{{{k1_0, kUInt32, 4, 4}}, {}, false};
constexpr TensorRule kY{kNetworkTypes, sameType(0)};

constexpr TensorRule kRnnRules[] = {kX, kLikeX, kLikeX, kLikeX, kLikeX, kLengths, kY, kY};
constexpr TensorRule kLstmRules[] = {kX, kLikeX, kLikeX, kLikeX, kLikeX, kLikeX, kLengths, kLikeX, kY, kY, kY};

constexpr OpSchema kRecurrentSchemas[] = {
    DIMPLE_DESC_ROW(RNN, kRnnFields, kRnnRules, checkNetwork, planNetwork),
    DIMPLE_DESC_ROW(LSTM, kLstmFields, kLstmRules, checkNetwork, planNetwork),
    DIMPLE_DESC_ROW(GRU, kGruFields, kRnnRules, checkNetwork, planNetwork),
};

}  // namespace

std::span<const OpSchema> recurrentSchemas() { return kRecurrentSchemas; }

}  // namespace dimple
