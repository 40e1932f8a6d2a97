// Nodes that change each channel of the results of a product or convolution, or add a tensor of the same layout to
// them, become an epilogue of that operator. It rounds as the nodes do.
#include <algorithm>
#include <array>
#include <optional>

#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/graph/passes/linear.h"
#include "core/target.h"
#include "core/text.h"

namespace dimple {
namespace {

// A linear node, the nodes whose work it takes over, and what it does then.
class Follow {
 public:
  Follow(Graph& graph, Node& first, const Linear& linear, bool keepsConstants)
      : graph_(graph),
        first_(first),
        linear_(linear),
        keepsConstants_(keepsConstants),
        made_(first.op->output()),
        result_(made_) {}

  void fuse() {
    const Node* last = &first_;
    for (Node* next = onlyReader(first_); next && next->op && take(*next, *last); next = onlyReader(*next)) {
      followers_.push_back(next);
      last = next;
    }
    if (!followers_.empty()) replace();
  }

 private:
  // A parameter of each channel.
  struct Parameter {
    Place place;
    Tensor tensor;  // one element, or one per channel
  };

  // Whether a node becomes a part of the epilogue.
  bool take(const Node& node, const Node& before) {
    const Operation& op = *node.op;
    if (!activations_.empty() || addend_) return false;
    const auto read = std::ranges::find(node.inputs(), Place{const_cast<Value*>(&before.outputs()[0])});
    if (read == node.inputs().end()) return false;
    const auto input = static_cast<uint32_t>(read - node.inputs().begin());
    const auto affine = stepOf(op, input);
    // The two ends of an edge agree about its bytes only.
    if (!affine || !readsAsMade(before.op->output(), op, input)) return false;
    if (!takeChannels(node, *affine) && !takeSum(node, input)) return false;
    if (sameSizes(op.output(), made_)) result_ = op.output();
    activations_.assign(op.activations().begin(), op.activations().end());
    return true;
  }

  static std::optional<Affine> stepOf(const Operation& op, uint32_t input) {
    if (op.schema().type == DML_OPERATOR_ELEMENT_WISE_DIVIDE && input == 0) return Affine{0, {1}};
    return affineOf(op, input);
  }

  bool takeChannels(const Node& node, const Affine& affine) {
    const Operation& op = *node.op;
    const auto channel = channelOf(made_, linear_, op, affine);
    const auto isKnown = [&](uint32_t p) { return graph_.isKnown(*node.inputs()[p].value); };
    if (!channel || !keepsConstants_ || !std::ranges::all_of(affine.parameters, isKnown)) return false;
    // Winograd's transforms know no channels; weights that are known take their steps.
    if (first_.op->schema().type == DML_OPERATOR_CONVOLUTION && made_.type != DML_TENSOR_DATA_TYPE_FLOAT16)
      return false;
    const uint32_t steps = stepsOf(op, affine);
    if (steps == 0) return false;
    epilogue_.steps |= steps;
    if ((steps & kEpilogueMean) != 0) {
      epilogue_.epsilon = op.as<DML_BATCH_NORMALIZATION_OPERATOR_DESC>().Epsilon;
      for (uint32_t p = 1; p <= 4; ++p) parameters_[p - 1] = parameterOf(node, p, *channel);
    } else {
      const size_t slot = (steps & kEpilogueShift) != 0 ? 3 : (steps & kEpilogueFactor) != 0 ? 2 : 4;
      parameters_[slot] = parameterOf(node, affine.parameters[0], *channel);
    }
    return true;
  }

  // Returns what a node does after what is done already, or 0 if it cannot follow that.
  uint32_t stepsOf(const Operation& op, const Affine& affine) const {
    const uint32_t before = epilogue_.steps;
    if (op.schema().type == DML_OPERATOR_BATCH_NORMALIZATION)
      return before == 0 ? kEpilogueMean | kEpilogueVariance | kEpilogueFactor | kEpilogueShift : 0;
    if (!affine.scales && (before & ~kEpilogueDivides) == kEpilogueFactor)
      return kEpilogueFactorRounded | kEpilogueShift;
    if (!affine.scales) return before == 0 ? kEpilogueShift : 0;
    const bool divides = op.schema().type == DML_OPERATOR_ELEMENT_WISE_DIVIDE;
    if (before == 0) return kEpilogueFactor | (divides ? kEpilogueDivides : 0);
    return !divides && (before & kEpilogueLastFactor) == 0 ? kEpilogueLastFactor : 0;
  }

  // The tensor must have the layout of the sum. For a product without C, it may have any strides.
  bool takeSum(const Node& node, uint32_t input) {
    const Operation& op = *node.op;
    const DML_OPERATOR_TYPE type = op.schema().type;
    if (type != DML_OPERATOR_ELEMENT_WISE_ADD && type != DML_OPERATOR_ELEMENT_WISE_ADD1) return false;
    const Tensor& other = op.input(1 - input);
    if (!readsAsMade(made_, op, input)) return false;
    addsC_ = !sameLayout(other, op.output());
    if (addsC_ && !mayAddC(op, input)) return false;
    addendTensor_ = other;
    addend_ = node.inputs()[1 - input];
    return true;
  }

  bool mayAddC(const Operation& op, uint32_t input) const {
    const Operation& product = *first_.op;
    const auto isOne = [](const std::optional<Parameter>& p) { return !p || p->tensor.strides[2] == 0; };
    // Masks are read one element at a time. If the results are many, a separate pass is faster (2^21 of FLOAT32 on an
    // H100: 31 and 11 instead of 51 us).
    constexpr uint64_t kMany = uint64_t{1} << 20;
    return made_.elements < kMany && product.schema().type == DML_OPERATOR_GEMM &&
           !product.input(kBiasInput).present() && sameSizes(made_, op.input(input)) &&
           std::ranges::all_of(parameters_, isOne);
  }

  // Returns the tensor as {1, 1, channels, 1}.
  Parameter parameterOf(const Node& node, uint32_t input, uint32_t channel) const {
    const Tensor& given = node.op->input(input);
    Tensor tensor = packedTensor(given.type, std::array{1u, 1u, made_.sizes[linear_.channel], 1u});
    tensor.strides = {};
    tensor.strides[2] = given.sizes[channel] == 1 ? 0 : given.strides[channel];
    tensor.ownedByDml = given.ownedByDml;
    return {node.inputs()[input], asGiven(tensor)};
  }

  Node* add(std::string_view what, Result<Operation> op) {
    if (!op) return nullptr;
    Node& node =
        graph_.add(cat(first_.name, what), cat(first_.label, what), std::make_shared<const Operation>(std::move(*op)));
    node.runsAtInitialization = true;
    added_.push_back(&node);
    return &node;
  }

  // Describes one FLOAT32 element for each channel.
  Tensor singlesOf(uint32_t each) const {
    return asGiven(packedTensor(DML_TENSOR_DATA_TYPE_FLOAT32, std::array{1u, 1u, made_.sizes[linear_.channel], each}));
  }

  // Returns a node's result for some parameters, as FLOAT32, or none if no such node is possible.
  template <class Desc>
  std::optional<Parameter> made(DML_OPERATOR_TYPE type, const Desc& desc, const std::vector<Parameter>& of) {
    std::vector<Tensor> tensors;
    tensors.reserve(of.size());
    for (const Parameter& parameter : of) tensors.push_back(parameter.tensor);
    Node* node = add(" parameter", Operation::make(type, desc, std::move(tensors), {singlesOf(1)}));
    if (!node) return {};
    for (uint32_t i = 0; i < of.size(); ++i) graph_.connect(*node, i, of[i].place);
    return Parameter{{&node->outputs()[0]}, singlesOf(1)};
  }

  // Divides the factor of a FLOAT16 normalization by the deviation once instead of for each element. In FLOAT32 this is
  // more precise than the result can be.
  bool divideFactor() {
    for (std::optional<Parameter>& parameter : parameters_) {
      if (!parameter) continue;
      parameter = made(DML_OPERATOR_CAST, DML_CAST_OPERATOR_DESC{}, {*parameter});
      if (!parameter) return false;
    }
    auto& [mean, variance, factor, shift, last] = parameters_;
    const DML_SCALE_BIAS withEpsilon{1, epilogue_.epsilon};
    const auto deviation = made(DML_OPERATOR_ELEMENT_WISE_SQRT,
                                DML_ELEMENT_WISE_SQRT_OPERATOR_DESC{nullptr, nullptr, &withEpsilon}, {*variance});
    if (!deviation) return false;
    factor = made(DML_OPERATOR_ELEMENT_WISE_DIVIDE, DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC{}, {*factor, *deviation});
    variance.reset();
    epilogue_.steps &= ~kEpilogueVariance;
    return factor.has_value();
  }

  // The nodes that put the parameters of a channel side by side, as FLOAT32, with zeros for those that the channel does
  // not have.
  Node* addParameters() {
    constexpr uint32_t kOfChannel = 8;  // of which the kernels read the first ones
    const bool divides = (epilogue_.steps & kEpilogueVariance) != 0 && made_.type == DML_TENSOR_DATA_TYPE_FLOAT16;
    if (divides && !divideFactor()) return nullptr;
    const DataType type = divides ? DML_TENSOR_DATA_TYPE_FLOAT32 : made_.type;
    const auto tensorOf = [&](uint32_t each) {
      return packedTensor(type, std::array{1u, 1u, made_.sizes[linear_.channel], each});
    };
    std::vector<Tensor> tensors;
    std::vector<Place> places;
    const auto addZeros = [&](uint32_t each) {
      added_.push_back(&addZero(graph_));
      Tensor zeros = tensorOf(each);
      zeros.strides = {};
      tensors.push_back(asGiven(zeros));
      places.push_back({&added_.back()->outputs()[0]});
    };
    size_t used = parameters_.size();
    while (!parameters_[used - 1]) --used;
    for (size_t i = 0; i < used; ++i) {
      if (!parameters_[i]) {
        addZeros(1);
        continue;
      }
      tensors.push_back(parameters_[i]->tensor);
      places.push_back(parameters_[i]->place);
    }
    addZeros(static_cast<uint32_t>(kOfChannel - used));
    const Tensor joined = asGiven(tensorOf(kOfChannel));
    const auto count = static_cast<UINT>(tensors.size());
    Node* join = add(" channels", Operation::make(DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC{count, nullptr, nullptr, 3},
                                                  std::move(tensors), {joined}));
    if (!join) return nullptr;
    for (uint32_t i = 0; i < count; ++i) graph_.connect(*join, i, places[i]);
    if (type == DML_TENSOR_DATA_TYPE_FLOAT32) return join;
    Node* cast = add(" channels as FLOAT32",
                     Operation::make(DML_OPERATOR_CAST, DML_CAST_OPERATOR_DESC{}, {joined}, {singlesOf(kOfChannel)}));
    if (cast) graph_.connect(*cast, 0, {&join->outputs()[0]});
    return cast;
  }

  void replace() {
    Operation changed = *first_.op;
    Node* parameters = nullptr;
    if (epilogue_.steps != 0) {
      parameters = addParameters();
      if (!parameters) return undo();
      epilogue_.channel = linear_.channel;
      epilogue_.channels = changed.addInput(parameters->op->output(), "channels");
    }
    result_.ownedByDml = false;
    changed.setTensor(Role::Output, 0, asGiven(result_));
    if (addend_) {
      epilogue_.steps |= kEpilogueAddend | (addsC_ ? kEpilogueAddsC : 0);
      if (addsC_) {
        changed.setTensor(Role::Input, kBiasInput, addendTensor_);
        epilogue_.addend = kBiasInput;
      } else {
        Tensor addend = result_;
        addend.ownedByDml = addendTensor_.ownedByDml;
        epilogue_.addend = changed.addInput(asGiven(addend), "addend");
      }
    }
    changed.setEpilogue(epilogue_);
    changed.setActivations(activations_);
    if (!changed.check()) return undo();
    first_.setOperation(std::move(changed));
    if (parameters) graph_.addInput(first_, {&parameters->outputs()[0]});
    if (addend_ && addsC_)
      graph_.connect(first_, kBiasInput, *addend_);
    else if (addend_)
      graph_.addInput(first_, *addend_);
    for (const Node* node : followers_) {
      first_.name = cat(first_.name, " with ", node->name);
      first_.label = cat(first_.label, " with ", node->label);
    }
    graph_.replaceAllUses(followers_.back()->outputs()[0], first_.outputs()[0]);
    while (!followers_.empty()) {
      graph_.erase(*followers_.back());
      followers_.pop_back();
    }
  }

  // Readers come before what they read.
  void undo() {
    while (!added_.empty()) {
      graph_.erase(*added_.back());
      added_.pop_back();
    }
  }

  Graph& graph_;
  Node& first_;
  const Linear linear_;
  const bool keepsConstants_;
  const Tensor made_;
  Tensor result_;
  std::vector<Node*> followers_, added_;
  Epilogue epilogue_;
  std::array<std::optional<Parameter>, 5> parameters_;  // mean, variance, factor, shift, last factor
  std::optional<Place> addend_;
  bool addsC_ = false;
  Tensor addendTensor_;
  std::vector<Activation> activations_;
};

}  // namespace

void passes::addEpilogues(Graph& graph, const Target& target) {
  // Parameters are worth gathering only because that is done once.
  const bool keepsConstants = runsPass(target.options, "constants");
  for (Node& first : graph.nodes()) {
    if (!first.op || first.runsAtInitialization) continue;
    if (const auto linear = linearOf(*first.op)) Follow(graph, first, *linear, keepsConstants).fuse();
  }
}

}  // namespace dimple
