// Where networks of convolutions keep the channels of a place side by side between nodes.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/checked.h"
#include "core/graph/graph.h"
#include "core/graph/pass.h"
#include "core/ops/chain.h"
#include "core/plan/plan_builder.h"
#include "core/target.h"
#include "kernels/interfaces/float_tiles.h"

namespace dimple {
namespace {

constexpr uint32_t kChannel = 1;
constexpr uint32_t kVector = 8;  // FLOAT16 of 16 bytes

// What a node does to the layouts of its tensors of many places.
enum class NodeKind : uint8_t {
  Other,        // it is left alone, and so are they
  Convolution,  // its input and its output may lie in different ways
  Alike,        // all of them lie in the same way
};

// Whether it has elements of its own for several places.
bool hasPlaces(const Tensor& tensor) {
  if (!tensor.present()) return false;
  for (uint32_t d = 2; d < tensor.rank; ++d)
    if (tensor.sizes[d] != 1 && tensor.strides[d] != 0) return true;
  return false;
}

bool isPooling(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_AVERAGE_POOLING:
    case DML_OPERATOR_AVERAGE_POOLING1:
    case DML_OPERATOR_MAX_POOLING:
    case DML_OPERATOR_MAX_POOLING1:
    case DML_OPERATOR_MAX_POOLING2:
      return true;
    default:
      return false;
  }
}

bool joinsChannels(const Operation& op) {
  switch (op.schema().type) {
    case DML_OPERATOR_JOIN:
      return op.as<DML_JOIN_OPERATOR_DESC>().Axis == kChannel;
    case DML_OPERATOR_SPLIT:
      return op.as<DML_SPLIT_OPERATOR_DESC>().Axis == kChannel;
    default:
      return false;
  }
}

// Whether an operator reduces places, as sums do.
bool reducesPlaces(const Operation& op) {
  if (op.schema().type != DML_OPERATOR_REDUCE) return false;
  const auto& desc = op.as<DML_REDUCE_OPERATOR_DESC>();
  // Indices count through the places as they lie in the description.
  if (desc.Function == DML_REDUCE_FUNCTION_ARGMAX || desc.Function == DML_REDUCE_FUNCTION_ARGMIN) return false;
  return (axisMask({desc.Axes, desc.AxisCount}) & (1u << kChannel | 1u)) == 0 && !hasPlaces(op.output());
}

NodeKind kindOf(const Node& node) {
  if (!node.op || node.runsAtInitialization || node.op->outputs().empty()) return NodeKind::Other;
  const Operation& op = *node.op;
  const DML_OPERATOR_TYPE type = op.schema().type;
  if (type == DML_OPERATOR_CONVOLUTION) return NodeKind::Convolution;
  // Indices of maxima count through the places as they lie in the description.
  const bool alone = op.outputs().size() == 1 || !op.output(1).present();
  if (isPooling(type)) return alone ? NodeKind::Alike : NodeKind::Other;
  if (type == DML_OPERATOR_BATCH_NORMALIZATION || joinsChannels(op) || reducesPlaces(op)) return NodeKind::Alike;
  return type != DML_OPERATOR_INVALID && !elementSteps(op).empty() ? NodeKind::Alike : NodeKind::Other;
}

// A tensor of pictures whose channels could be read in vectors.
bool isOfPictures(const Tensor& tensor) {
  if (!tensor.present() || tensor.type != DML_TENSOR_DATA_TYPE_FLOAT16 || tensor.rank < 4 || tensor.rank > 5)
    return false;
  return tensor.sizes[kChannel] % kVector == 0 && tensor.elements != uint64_t{tensor.sizes[0]} * tensor.sizes[kChannel];
}

// Whether an input of a node is one of pictures, and not of weights.
bool takesPictures(const Node& node, uint32_t input) {
  const NodeKind kind = kindOf(node);
  if (kind != NodeKind::Convolution) return kind == NodeKind::Alike;
  return input == 0 || input == node.op->epilogue().addend;
}

std::vector<uint32_t> channelsLastStrides(const Tensor& tensor) {
  std::vector<uint32_t> strides(tensor.rank);
  strides[kChannel] = 1;
  uint32_t next = tensor.sizes[kChannel];
  for (uint32_t d = tensor.rank; d-- > 2;) {
    strides[d] = next;
    next *= tensor.sizes[d];
  }
  strides[0] = next;
  return strides;
}

class ChannelsChooser {
 public:
  ChannelsChooser(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  void choose() {
    findValues();
    if (values_.empty()) return;
    joinAlike();
    // Classes of values that lie alike, where one of them cannot change.
    const Sets alike = sets_;
    std::vector<bool> fixed(values_.size());
    for (const uint32_t value : fixed_) fixed[sets_.find(value)] = true;
    joinConvolutions(fixed);
    std::unordered_map<uint32_t, std::vector<uint32_t>> regions;
    for (uint32_t v = 0; v < values_.size(); ++v)
      if (!fixed[alike.root(v)]) regions[sets_.find(v)].push_back(v);
    for (uint32_t v = 0; v < values_.size(); ++v)
      if (const auto region = regions.find(v); region != regions.end()) change(region->second);
  }

 private:
  class Sets {
   public:
    void add() { parents_.push_back(static_cast<uint32_t>(parents_.size())); }
    uint32_t root(uint32_t i) const {
      while (parents_[i] != i) i = parents_[i];
      return i;
    }
    uint32_t find(uint32_t i) {
      const uint32_t found = root(i);
      while (parents_[i] != found) i = std::exchange(parents_[i], found);
      return found;
    }
    void join(uint32_t a, uint32_t b) { parents_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

   private:
    std::vector<uint32_t> parents_;
  };

  // Values that only nodes of known kinds make and read, all as they are made.
  void findValues() {
    for (Node& node : graph_.nodes())
      for (Value& value : node.outputs()) {
        if (kindOf(node) == NodeKind::Other || !value.graphOutputs.empty() || value.uses.empty()) continue;
        const Tensor& tensor = node.op->output(value.index);
        if (!isOfPictures(tensor) || !sameLayout(tensor, packedTensor(tensor.type, tensor.sizeSpan()))) continue;
        const auto reads = [&](const Value::Use& use) {
          return takesPictures(*use.node, use.input) && sameLayout(use.node->op->input(use.input), tensor) &&
                 use.node->inputs()[use.input].offset == 0;
        };
        if (!std::ranges::all_of(value.uses, reads)) continue;
        indices_.emplace(&value, static_cast<uint32_t>(values_.size()));
        values_.push_back(&value);
        sets_.add();
      }
  }

  std::optional<uint32_t> indexOf(const Value* value) const {
    const auto found = indices_.find(value);
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
  }

  // The operands of a node that have many places. `all` says whether the node has no others.
  struct Operands {
    std::vector<uint32_t> values;
    bool all = true;
  };
  Operands operandsOf(Node& node, bool inputs) const {
    Operands operands;
    const auto add = [&](const Tensor& tensor, const Value* value) {
      if (!hasPlaces(tensor)) return;
      if (const auto index = indexOf(value))
        operands.values.push_back(*index);
      else
        operands.all = false;
    };
    if (inputs)
      for (size_t i = 0; i < node.inputs().size(); ++i) add(node.op->input(i), node.inputs()[i].value);
    for (const Value& value : node.outputs()) add(node.op->output(value.index), &value);
    return operands;
  }

  void joinAlike() {
    for (Node& node : graph_.nodes()) {
      const NodeKind kind = kindOf(node);
      if (kind == NodeKind::Other) continue;
      Operands operands = operandsOf(node, kind == NodeKind::Alike);
      // What a convolution adds to its results lies as they do.
      if (const size_t addend = node.op->epilogue().addend; kind == NodeKind::Convolution && addend != 0) {
        const auto index = indexOf(node.inputs()[addend].value);
        if (index) operands.values.push_back(*index);
        operands.all &= index.has_value();
      }
      for (const uint32_t value : operands.values) {
        sets_.join(operands.values.front(), value);
        if (!operands.all) fixed_.push_back(value);
      }
    }
  }

  void joinConvolutions(const std::vector<bool>& fixed) {
    const Sets alike = sets_;
    for (Node& node : graph_.nodes()) {
      if (kindOf(node) != NodeKind::Convolution) continue;
      const auto from = indexOf(node.inputs()[0].value);
      const auto to = indexOf(&node.outputs()[0]);
      if (from && to && !fixed[alike.root(*from)] && !fixed[alike.root(*to)]) sets_.join(*from, *to);
    }
  }

  // Gives all values of a region another layout if its convolutions gain.
  void change(const std::vector<uint32_t>& region) const {
    std::vector<Node*> nodes;
    std::unordered_map<Node*, Operation> changed;
    const auto change = [&](Node& node, Role role, uint32_t index, const std::vector<uint32_t>& strides) {
      const auto [entry, isNew] = changed.try_emplace(&node, *node.op);
      if (isNew) nodes.push_back(&node);
      return bool(entry->second.setStrides(role, index, strides));
    };
    for (const uint32_t v : region) {
      Value& value = *values_[v];
      const auto strides = channelsLastStrides(value.producer->op->output(value.index));
      if (!change(*value.producer, Role::Output, value.index, strides)) return;
      for (const Value::Use& use : value.uses)
        if (!change(*use.node, Role::Input, use.input, strides)) return;
    }
    uint64_t gaining = 0;
    uint64_t others = 0;
    for (Node* node : nodes) {
      const Operation& op = changed.at(node);
      if (!op.check()) return;
      // A convolution of which only the results change their layout stores them as fast as before.
      if (kindOf(*node) != NodeKind::Convolution || sameLayout(op.input(0), node->op->input(0))) continue;
      (gains(op) ? gaining : others) += sumsOf(op);
    }
    constexpr uint64_t kMostOthers = 8;  // of as many sums
    if (gaining == 0 || others > gaining / kMostOthers) return;
    for (Node* node : nodes) node->setOperation(std::move(changed.at(node)));
  }

  static uint64_t sumsOf(const Operation& op) {
    const Tensor& filter = op.input(1);
    return op.output().elements * (filter.elements / filter.sizes[0]);
  }

  // Whether matrices of subgroups read its vectors of channels.
  bool gains(const Operation& op) const {
    using Tiles = kernels::FloatTiles;
    if (!isOfPictures(op.input(0))) return false;
    const auto plan = planUnkept(op, target_);
    return plan && std::ranges::any_of(plan->execution, [](const Dispatch& dispatch) {
             const auto form = static_cast<Tiles::Form>(dispatch.kernel.form);
             return dispatch.kernel.family == Tiles::kFamily &&
                    (form == Tiles::Form::Matrices || form == Tiles::Form::MatricesAhead ||
                     form == Tiles::Form::MatricesSplit || form == Tiles::Form::VectorMatrices ||
                     form == Tiles::Form::VectorMatricesAhead || form == Tiles::Form::VectorWindowsSplit ||
                     form == Tiles::Form::PatchWindows || form == Tiles::Form::ChunkWindows);
           });
  }

  Graph& graph_;
  const Target& target_;
  std::vector<Value*> values_;
  std::unordered_map<const Value*, uint32_t> indices_;
  Sets sets_;
  std::vector<uint32_t> fixed_;
};

}  // namespace

void passes::putChannelsLast(Graph& graph, const Target& target) {
  if (target.caps.matrices) ChannelsChooser(graph, target).choose();
}

}  // namespace dimple
