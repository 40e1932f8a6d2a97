// Recurrent networks: RNN, LSTM and GRU, in one file, since all but the step of a network is the same for the three.
#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "core/checked.h"
#include "core/ops/checks.h"
#include "core/ops/product.h"
#include "core/ops/table.h"
#include "core/plan/plan_builder.h"
#include "kernels/interfaces/recurrent_state.h"
#include "kernels/interfaces/recurrent_step.h"
#include "kernels/interfaces/recurrent_weights.h"

namespace dimple {
namespace {

constexpr uint32_t kRnnGates = 1;
constexpr uint32_t kGruGates = 3;
constexpr uint32_t kLstmGates = 4;
constexpr size_t kHiddenInit = 4;  // its place among the inputs

// Kinds of kernels/recurrent/step.glsl.
constexpr uint32_t kStepRnn = 0;
constexpr uint32_t kStepGruLinear = 1;
constexpr uint32_t kStepGruGates = 2;
constexpr uint32_t kStepGruHidden = 3;
constexpr uint32_t kStepLstm = 4;

// The differences between the three networks.
struct Network {
  uint32_t gates;
  uint32_t activations;  // of one direction
  UINT activationCount;
  DML_RECURRENT_NETWORK_DIRECTION direction;
  std::vector<uint32_t> stepKernels;               // that make a step, in order
  size_t cellInit = 0, lengths = 5, peephole = 0;  // inputs; 0: it has none
  bool clips = false;
  FLOAT clip = 0;
  bool couples = false;
};

Network networkOf(const DML_RNN_OPERATOR_DESC& desc) {
  return {kRnnGates, 1, desc.ActivationDescCount, desc.Direction, {kStepRnn}};
}

Network networkOf(const DML_GRU_OPERATOR_DESC& desc) {
  if (desc.LinearBeforeReset) return {kGruGates, 2, desc.ActivationDescCount, desc.Direction, {kStepGruLinear}};
  return {kGruGates, 2, desc.ActivationDescCount, desc.Direction, {kStepGruGates, kStepGruHidden}};
}

Network networkOf(const DML_LSTM_OPERATOR_DESC& desc) {
  return {.gates = kLstmGates,
          .activations = 3,
          .activationCount = desc.ActivationDescCount,
          .direction = desc.Direction,
          .stepKernels = {kStepLstm},
          .cellInit = 5,
          .lengths = 6,
          .peephole = 7,
          .clips = desc.UseClipThreshold != 0,
          .clip = desc.ClipThreshold,
          .couples = desc.CoupleInputForget != 0};
}

// Absent tensors have no sizes to check.
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

// Flags of kernels/recurrent/step.glsl.
constexpr uint32_t kHasLengths = 1;
constexpr uint32_t kHasPeephole = 2;
constexpr uint32_t kHasSequence = 8;  // and the bits after it, for the other outputs
constexpr uint32_t kClips = 64;
constexpr uint32_t kCouples = 128;

bool hasInput(const Operation& op, size_t index) { return index != 0 && op.input(index).present(); }

// Strides of the dimensions from `first` on, `count` of them; 0 where the input is absent.
void appendStrides(std::vector<uint32_t>& words, const Operation& op, size_t index, uint32_t first, uint32_t count) {
  for (uint32_t d = first; d < first + count; ++d)
    words.push_back(hasInput(op, index) ? op.input(index).strides[d] : 0);
}

uint32_t stepFlags(const Operation& op, const Network& network) {
  uint32_t flags = 0;
  if (hasInput(op, network.lengths)) flags |= kHasLengths;
  if (hasInput(op, network.peephole)) flags |= kHasPeephole;
  if (network.clips) flags |= kClips;
  if (network.couples) flags |= kCouples;
  for (size_t i = 0; i < op.outputs().size(); ++i)
    if (op.output(i).present()) flags |= kHasSequence << i;
  return flags;
}

const Activation& activationOf(const Operation& op, const Network& network, uint32_t direction, uint32_t which) {
  return op.activations()[direction * network.activations + std::min(which, network.activations - 1)];
}

// The block that all kernels of a network share.
std::vector<uint32_t> parametersOf(const Operation& op, const Network& network) {
  std::vector<uint32_t> words;
  appendStrides(words, op, 2, 1, 3);
  appendStrides(words, op, network.lengths, 3, 1);
  appendStrides(words, op, 3, 2, 2);
  appendStrides(words, op, network.peephole, 2, 2);
  for (const size_t state : {kHiddenInit, network.cellInit}) {
    appendStrides(words, op, state, 1, 3);
    words.push_back(0);
  }
  for (size_t i = 0; i < 3; ++i) {
    const std::array<uint32_t, kMaxRank> strides =
        i < op.outputs().size() ? op.output(i).strides : std::array<uint32_t, kMaxRank>{};
    // Tensors of a single step have no stride between steps.
    words.insert(words.end(), strides.begin() + (i == 0 ? 0 : 1), strides.begin() + (i == 0 ? 4 : 5));
  }
  for (uint32_t d = 0; d < op.input(2).sizes[1]; ++d)
    for (uint32_t which = 0; which < 3; ++which) {
      const Activation& activation = activationOf(op, network, d, which);
      words.insert(words.end(), {static_cast<uint32_t>(activation.type), floatBits(activation.parameters[0]),
                                 floatBits(activation.parameters[1]), 0});
    }
  return words;
}

// Whether hidden states stay within FLOAT16: the gates are between 0 and 1, and the functions are bounded.
bool isBounded(const Operation& op, const Network& network) {
  for (uint32_t d = 0; d < op.input(2).sizes[1]; ++d)
    for (uint32_t which = 0; which < network.activations; ++which) {
      const DML_OPERATOR_TYPE type = activationOf(op, network, d, which).type;
      const bool isShare = type == DML_OPERATOR_ACTIVATION_SIGMOID || type == DML_OPERATOR_ACTIVATION_HARD_SIGMOID;
      const bool isGate = network.gates > 1 && which == 0;
      if (!isShare && (isGate || (type != DML_OPERATOR_ACTIVATION_TANH && type != DML_OPERATOR_ACTIVATION_SOFTSIGN)))
        return false;
    }
  return true;
}

// Whether, in all directions, the gates are sigmoids and all other functions are tanh.
bool isUsual(const Operation& op, const Network& network) {
  for (uint32_t d = 0; d < op.input(2).sizes[1]; ++d)
    for (uint32_t which = 0; which < network.activations; ++which)
      if (activationOf(op, network, d, which).type !=
          (network.gates > 1 && which == 0 ? DML_OPERATOR_ACTIVATION_SIGMOID : DML_OPERATOR_ACTIVATION_TANH))
        return false;
  return true;
}

// How a step reads weights and states.
struct StepKernel {
  using Form = kernels::RecurrentStep::Form;

  Form form = Form::Given;
  uint32_t quads = 1;     // QUADS of kernels/recurrent/step_tile.comp
  MatrixShape shape{};    // none: it multiplies no matrices
  uint32_t matrices = 1;  // STEPS of kernels/recurrent/step_matrices.comp
  uint32_t batch = 1;     // sequences of an operand, those that fill tiles up included,
  uint32_t depth = 1;     // and hidden units
  uint32_t columns = 1;   // of a tile of weights
};

// What a step computes: kernels of a network's steps, in order.
struct Pass {
  uint32_t kind;
  uint32_t firstGate, gates;
  uint32_t slots;  // columns of weights that a hidden unit takes
};

Pass passOf(uint32_t kind) {
  switch (kind) {
    case kStepGruLinear:
      return {kind, 0, 3, 4};
    case kStepGruGates:
      return {kind, 0, 2, 2};
    case kStepGruHidden:
      return {kind, 2, 1, 1};
    case kStepLstm:
      return {kind, 0, 4, 4};
    default:
      return {kind, 0, 1, 1};
  }
}

// Where the parts of the state are, in elements: products of inputs and weights, arrays of an element each for
// (d, b, h), and constants of (d, h).
struct StateLayout {
  enum Array : uint32_t { Hidden, Cell, Update, Count };

  uint64_t projections;
  uint64_t items;  // of an array
  uint64_t units;  // in all directions

  uint64_t at(uint32_t array) const { return projections + array * items; }
  uint64_t biases() const { return at(Count); }
  uint64_t peepholes() const { return biases() + 4 * units; }
  uint64_t bytes() const { return (peepholes() + 3 * units) * 4; }
};

// The products of all steps' inputs at once, then a dispatch or two a step, which read the state of the one before.
// Weights that many steps read are put into their order first. In place of absent tensors others are bound, which the
// kernels do not access.
class NetworkBuilder {
 public:
  NetworkBuilder(const Operation& op, PlanBuilder& builder, const Network& network)
      : builder_(builder),
        network_(network),
        x_(op.input(0)),
        r_(op.input(2)),
        layout_{alignUp(uint64_t{r_.sizes[1]} * x_.sizes[1] * x_.sizes[2] * r_.sizes[2], kAlignment),
                uint64_t{r_.sizes[1]} * x_.sizes[2] * r_.sizes[3], uint64_t{r_.sizes[1]} * r_.sizes[3]},
        isUsual_(isUsual(op, network)) {}

  Status make() {
    TRY(checkLimits());
    chooseKernel();
    parameters_ = builder_.parameters(parametersOf(op(), network_));
    state_ = builder_.allocateTemporary(layout_.bytes());
    operandElements_ = alignUp(uint64_t{directions()} * kernel_.batch * kernel_.depth * partsOfElement(), kAlignment);
    operand_ = builder_.allocateTemporary(operandElements_ * kOperands * operandBytes());
    TRY(addState());
    if (kernel_.form == Form::Given)
      weights_ = builder_.input(2);
    else
      TRY(addWeights());
    TRY(addProjections());
    return addSteps();
  }

 private:
  using Form = StepKernel::Form;
  // The hidden states of this step and of the next, and those that are reset.
  static constexpr uint32_t kOperands = 3;
  static constexpr uint32_t kReset = 2;
  static constexpr uint64_t kAlignment = 64;  // of arrays, in elements

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

  bool usesMatrices() const { return kernel_.form == Form::Matrices; }
  // Beside each matrix lies a second one, with the rounding errors of its elements.
  uint32_t partsOfElement() const { return usesMatrices() ? 2 : 1; }
  uint32_t operandBytes() const { return usesMatrices() ? 2 : 4; }

  // Tiles of weights of a direction that a pass reads.
  uint32_t tilesOf(const Pass& pass) const {
    return static_cast<uint32_t>(divideUp(uint64_t{hidden()} * pass.slots, kernel_.columns * acrossOf(pass)) *
                                 acrossOf(pass));
  }
  uint64_t weightsOf(const Pass& pass) const {
    return alignUp(uint64_t{directions()} * tilesOf(pass) * kernel_.depth * kernel_.columns, kAlignment);
  }

  void chooseKernel() {
    kernel_ = {.batch = batch(), .depth = hidden()};
    // With fewer steps, another order of the weights does not pay.
    constexpr uint32_t kFewSteps = 4;
    if (steps() < kFewSteps) return;
    if (choosesMatrices()) {
      chooseMatrices();
    } else {
      uint32_t quads = 1;
      while (quads < 4 && quads * 4 < batch()) quads *= 2;
      kernel_ = {.form = Form::Tile,
                 .quads = quads,
                 .batch = static_cast<uint32_t>(alignUp(batch(), 4)),
                 .depth = hidden(),
                 .columns = 16};
    }
    uint64_t elements = 0;
    for (const uint32_t kind : network_.stepKernels) elements += weightsOf(passOf(kind));
    const uint64_t operands =
        uint64_t{directions()} * kernel_.batch * kernel_.depth * partsOfElement() * kOperands * operandBytes();
    if (std::max(elements * 4, operands) > builder_.target().caps.maxBufferRange)
      kernel_ = {.batch = batch(), .depth = hidden()};
  }

  bool choosesMatrices() const {
    const Caps& caps = builder_.target().caps;
    constexpr uint32_t kMostAcross = 2;
    return caps.matrices && x_.type == DML_TENSOR_DATA_TYPE_FLOAT16 && isBounded(op(), network_) &&
           kGroupSize / caps.subgroupSize * kMostAcross * caps.matrices.elements() * 4 <= caps.sharedBytes;
  }

  void chooseMatrices() {
    const Caps& caps = builder_.target().caps;
    const MatrixShape shape = caps.matrices;
    const uint32_t subgroups = kGroupSize / caps.subgroupSize;
    const auto each = static_cast<uint32_t>(divideUp(divideUp(hidden(), shape.depth), subgroups));
    // Loads as many matrices ahead as there are, unless a quarter of them would be zeros.
    const uint32_t most = each == 3 || alignUp(each, 4) * 4 <= uint64_t{each} * 5 ? 4 : 2;
    const uint32_t matrices = std::min(std::bit_ceil(each), most);
    kernel_ = {.form = Form::Matrices,
               .shape = shape,
               .matrices = matrices,
               .batch = static_cast<uint32_t>(alignUp(batch(), shape.rows)),
               .depth = static_cast<uint32_t>(alignUp(each, matrices)) * subgroups * shape.depth,
               .columns = shape.columns};
  }

  // Tiles of weights side by side in a workgroup of matrices, each of whose invocations finishes one element at most.
  uint32_t acrossOf(const Pass& pass) const {
    if (!usesMatrices() || pass.slots < 2) return 1;
    const uint64_t tiles = divideUp(uint64_t{hidden()} * pass.slots, kernel_.columns);
    const uint64_t all = tiles * (kernel_.batch / kernel_.shape.rows) * directions();
    return all >= uint64_t{builder_.target().caps.workgroups} * 2 ? 2 : 1;
  }

  kernels::RecurrentOperandWords operandWords() const {
    switch (kernel_.form) {
      case Form::Given:
        return {.ofDirection = batch() * hidden(), .ofSequence = hidden(), .ofHidden = 1};
      case Form::Tile:
        return {.ofDirection = kernel_.batch * hidden(), .ofSequence = 1, .ofHidden = kernel_.batch};
      default:
        break;
    }
    const MatrixShape& shape = kernel_.shape;
    const uint32_t tile = 2 * shape.rows * shape.depth;
    const uint32_t ofSequence = kernel_.depth / shape.depth * tile;
    return {.ofDirection = kernel_.batch / shape.rows * ofSequence, .ofSequence = ofSequence, .ofHidden = tile};
  }

  kernels::FormWord<uint32_t> ofMatrices(uint32_t size) const {
    return usesMatrices() ? kernels::FormWord<uint32_t>(size) : std::nullopt;
  }

  static uint32_t word(uint64_t number) { return static_cast<uint32_t>(number); }

  Status addState() {
    using State = kernels::RecurrentState;
    const uint64_t items = uint64_t{directions()} * kernel_.batch * kernel_.depth + layout_.units;
    // The range excludes the projections, which another dispatch writes meanwhile.
    BufferRange state = state_;
    state.offset += layout_.projections * 4;
    state.bytes -= layout_.projections * 4;
    return builder_.addItems(
        State{.form = usesMatrices() ? State::Form::Matrices : State::Form::Floats,
              .type = element(),
              .push = {.count = word(items),
                       .directions = directions(),
                       .batch = batch(),
                       .hiddenSize = hidden(),
                       .gates = network_.gates,
                       .batchSize = kernel_.batch,
                       .depth = kernel_.depth,
                       .operands = usesMatrices() ? kOperands : 1,
                       .operandElements = word(operandElements_),
                       .linear = network_.stepKernels.front() == kStepGruLinear,
                       .hasBias = hasInput(op(), 3),
                       .hasPeephole = hasInput(op(), network_.peephole),
                       .hasHidden = hasInput(op(), kHiddenInit),
                       .hasCell = hasInput(op(), network_.cellInit),
                       .biasAt = word(layout_.biases() - layout_.projections),
                       .peepholeAt = word(layout_.peepholes() - layout_.projections),
                       .hiddenAt = word(layout_.at(StateLayout::Hidden) - layout_.projections),
                       .cellAt = word(layout_.at(StateLayout::Cell) - layout_.projections),
                       .recurrentOperand = operandWords()},
              .spec = {.sizeRows = ofMatrices(kernel_.shape.rows), .sizeDepth = ofMatrices(kernel_.shape.depth)},
              .bias = inputOr(3),
              .peephole = inputOr(network_.peephole),
              .hidden = inputOr(kHiddenInit),
              .cell = inputOr(network_.cellInit),
              .state = state,
              .operand = operand_},
        items, parameters_, usesMatrices() ? kOperands : 1);
  }

  // Returns the size for all passes, one behind the other.
  Status addWeights() {
    using Weights = kernels::RecurrentWeights;
    uint64_t elements = 0;
    for (const uint32_t kind : network_.stepKernels) elements += weightsOf(passOf(kind));
    weights_ = builder_.allocateTemporary(elements * operandBytes());
    uint64_t at = 0;
    for (const uint32_t kind : network_.stepKernels) {
      const Pass pass = passOf(kind);
      const uint64_t items = uint64_t{directions()} * tilesOf(pass) * kernel_.depth * kernel_.columns;
      TRY(builder_.addItems(Weights{.form = usesMatrices() ? Weights::Form::Matrices : Weights::Form::Floats,
                                    .type = element(),
                                    .push = {.count = word(items),
                                             .hiddenSize = hidden(),
                                             .depth = kernel_.depth,
                                             .tiles = tilesOf(pass),
                                             .firstGate = pass.firstGate,
                                             .gates = pass.gates,
                                             .slots = pass.slots,
                                             .weightsAt = word(at)},
                                    .spec = {.sizeColumns = ofMatrices(kernel_.shape.columns),
                                             .sizeDepth = ofMatrices(kernel_.shape.depth)},
                                    .r = builder_.input(2),
                                    .weights = weights_},
                            items, parameters_, 1));
      at += weightsOf(pass);
    }
    return {};
  }

  // X * W^T of each direction.
  Status addProjections() {
    const Tensor& w = op().input(1);
    const uint64_t elements = uint64_t{steps()} * batch();
    const bool isPacked = steps() == 1 || batch() == 1 || x_.strides[1] == uint64_t{batch()} * x_.strides[2];
    Product product{.type = x_.type,
                    .rows = isPacked ? word(elements) : batch(),
                    .columns = rows(),
                    .depth = x_.sizes[3],
                    .a = {isPacked && batch() == 1 ? x_.strides[1] : x_.strides[2], x_.strides[3]},
                    .b = {w.strides[3], w.strides[2]},
                    .y = {rows(), 1},
                    .from = {builder_.input(0), builder_.input(1), builder_.input(0)},
                    .to = state_};
    product.to.bytes = elements * rows() * directions() * 4;
    product.matrices.addDimension(directions(), {0, w.strides[1], 0, word(elements * rows())});
    if (!isPacked) product.matrices.addDimension(steps(), {x_.strides[1], 0, 0, batch() * rows()});
    FloatFinish finish;
    finish.wide = x_.type != DML_TENSOR_DATA_TYPE_FLOAT32;
    return addFloatProduct(builder_, product, finish);
  }

  uint32_t firstBackward() const {
    if (network_.direction == DML_RECURRENT_NETWORK_DIRECTION_FORWARD) return directions();
    return network_.direction == DML_RECURRENT_NETWORK_DIRECTION_BACKWARD ? 0 : 1;
  }

  uint64_t groupsOf(const Pass& pass) const {
    constexpr uint32_t kItemsPerGroup = 16;  // of kernels/recurrent/step.comp
    if (kernel_.form == Form::Given) return divideUp(layout_.items, kItemsPerGroup);
    const uint64_t rowTiles =
        usesMatrices() ? kernel_.batch / kernel_.shape.rows : divideUp(batch(), uint64_t{4} * kernel_.quads);
    return tilesOf(pass) / acrossOf(pass) * rowTiles * directions();
  }

  // KNOWN of kernels/recurrent/step_tile.comp. Of so many units, those of all tiles are whole, too.
  bool isKnown(const Pass& pass) const {
    constexpr uint32_t kOfOutputs = 7 * kHasSequence;
    constexpr uint32_t kUnitsAtATime = 512;  // in a workgroup, of each quad a share
    if (pass.kind == kStepLstm && directions() > 1) return false;
    return (stepFlags(op(), network_) & ~kOfOutputs) == 0 && batch() % (4 * kernel_.quads) == 0 &&
           hidden() % (kUnitsAtATime / kernel_.quads) == 0;
  }

  kernels::RecurrentStep::Spec specOf(const Pass& pass) const {
    kernels::RecurrentStep::Spec spec{.kind = pass.kind, .usual = isUsual_};
    if (kernel_.form == Form::Tile) {
      spec.quads = kernel_.quads;
      spec.known = isKnown(pass);
    }
    if (!usesMatrices()) return spec;
    spec.across = acrossOf(pass);
    spec.steps = kernel_.matrices;
    spec.subgroup = builder_.target().caps.subgroupSize;
    spec.sizeRows = kernel_.shape.rows;
    spec.sizeColumns = kernel_.shape.columns;
    spec.sizeDepth = kernel_.shape.depth;
    return spec;
  }

  uint32_t operandAt(uint32_t array) const { return word(array * operandElements_); }

  Status addStep(uint32_t step, const Pass& pass, uint64_t weightsAt) {
    const uint32_t next = 1 - step % 2;
    return builder_.add(
        kernels::RecurrentStep{.form = kernel_.form,
                               .type = element(),
                               .push = {.step1 = step,
                                        .steps = steps(),
                                        .batch = batch(),
                                        .hiddenSize = hidden(),
                                        .directions = directions(),
                                        .rows = rows(),
                                        .flags = stepFlags(op(), network_),
                                        .clip = floatBits(network_.clip),
                                        .firstBackward = firstBackward(),
                                        .biasAt = word(layout_.biases()),
                                        .peepholeAt = word(layout_.peepholes()),
                                        .hiddenAt = word(layout_.at(StateLayout::Hidden)),
                                        .cellAt = word(layout_.at(StateLayout::Cell)),
                                        .updateAt = word(layout_.at(StateLayout::Update)),
                                        .fromAt = operandAt(pass.kind == kStepGruHidden ? kReset : step % 2),
                                        .toAt = operandAt(pass.kind == kStepGruGates ? kReset : next),
                                        .weightsAt = word(weightsAt),
                                        .recurrentOperand = operandWords()},
                               .spec = specOf(pass),
                               .state = state_,
                               .operand = operand_,
                               .weights = weights_,
                               .lengths = inputOr(network_.lengths),
                               .sequence = outputOr(0),
                               .single = outputOr(1),
                               .cell = outputOr(2)},
        groupsOf(pass), parameters_, Work(layout_.items) * pass.gates * hidden());
  }

  Status addSteps() {
    for (uint32_t step = 0; step < steps(); ++step) {
      uint64_t weightsAt = 0;
      for (const uint32_t kind : network_.stepKernels) {
        const Pass pass = passOf(kind);
        TRY(addStep(step, pass, weightsAt));
        if (kernel_.form != Form::Given) weightsAt += weightsOf(pass);
      }
    }
    return {};
  }

  PlanBuilder& builder_;
  const Network network_;
  const Tensor& x_;
  const Tensor& r_;
  const StateLayout layout_;
  StepKernel kernel_;
  const bool isUsual_;  // USUAL of kernels/recurrent/step.glsl
  uint32_t parameters_ = 0;
  uint64_t operandElements_ = 0;  // of an array
  BufferRange state_{}, operand_{}, weights_{};
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
