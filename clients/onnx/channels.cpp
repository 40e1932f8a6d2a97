#include "clients/onnx/channels.h"

#include <algorithm>

#include "clients/onnx/attributes.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

// The first operator set whose operands are broadcast by their sizes alone.
constexpr int64_t kBroadcastingOpset = 7;
constexpr int64_t kInferenceOpset = 9;

class ChannelFolder {
 public:
  ChannelFolder(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs)
      : nodes_(nodes), initializers_(initializers) {
    for (const auto& [name, tensor] : initializers)
      if (tensor->type == Type::Float) sizes_[name] = tensor->sizes;
    for (const std::string& name : outputs) readers_[name].push_back(nullptr);
    for (Node& node : nodes) {
      std::set<std::string> read;
      addNamesRead(node, read);
      for (const std::string& name : read) readers_[name].push_back(&node);
    }
  }

  void fold() {
    for (Node& node : nodes_) {
      if (gone_.contains(&node)) continue;
      if (isLinear(node))
        while (Node* follower = onlyReader(node)) {
          if (!foldInto(node, *follower)) break;
          node.outputs[0] = follower->outputs[0];
          gone_.insert(follower);
        }
      result_.push_back(&node);
      order_.push_back(std::exchange(added_, {}));
    }
    std::vector<Node> all;
    for (size_t n = 0; n < result_.size(); ++n) {
      std::ranges::move(order_[n], std::back_inserter(all));
      all.push_back(std::move(*result_[n]));
    }
    nodes_ = std::move(all);
  }

 private:
  bool isLinear(const Node& node) const {
    if (!node.domain.empty() || node.inputs.size() < 2 || node.outputs.size() != 1) return false;
    if (node.opType != "Conv" && (node.opType != "ConvTranspose" || !isPlain(Attributes(node)))) return false;
    const auto weights = sizes_.find(node.inputs[1]);
    return weights != sizes_.end() && weights->second.size() >= 3 &&
           (node.inputs.size() < 3 || node.inputs[2].empty() || sizes_.contains(node.inputs[2]));
  }

  // Padding behind the results has no bias.
  static bool isPlain(const Attributes& transposed) {
    const Sizes padding = transposed.integers("output_padding").value_or(Sizes());
    return transposed.integer("group", 1) == 1 && !transposed.has("output_shape") &&
           std::ranges::all_of(padding, [](int64_t size) { return size == 0; });
  }

  Node* onlyReader(const Node& node) const {
    const auto found = readers_.find(node.outputs[0]);
    return found != readers_.end() && found->second.size() == 1 ? found->second[0] : nullptr;
  }

  bool foldInto(Node& linear, const Node& follower) {
    if (!follower.domain.empty() || follower.outputs.empty()) return false;
    const Sizes& weights = sizes_.at(linear.inputs[1]);
    axis_ = linear.opType == "Conv" ? 0 : 1;
    channels_ = weights[axis_];
    rank_ = weights.size();
    linear.inputs.resize(3);
    if (follower.opType == "BatchNormalization") return normalize(linear, follower);
    const bool multiplies = follower.opType == "Mul";
    if ((!multiplies && follower.opType != "Add") || follower.opset < kBroadcastingOpset || follower.inputs.size() != 2)
      return false;
    const std::string& other = follower.inputs[follower.inputs[0] == linear.outputs[0] ? 1 : 0];
    if (!isOfChannels(other)) return false;
    if (multiplies)
      scale(linear, other);
    else
      linear.inputs[2] = sum(linear.inputs[2], other);
    return true;
  }

  bool normalize(Node& linear, const Node& follower) {
    if (follower.inputs.size() != 5 || follower.inputs[0] != linear.outputs[0] || follower.opset < kInferenceOpset ||
        Attributes(follower).flag("training_mode") ||
        std::any_of(follower.outputs.begin() + 1, follower.outputs.end(),
                    [](const auto& name) { return !name.empty(); }))
      return false;
    for (size_t i = 1; i < 5; ++i) {
      const auto found = sizes_.find(follower.inputs[i]);
      if (found == sizes_.end() || found->second != Sizes{channels_}) return false;
    }
    const std::string deviation =
        add("Sqrt", {add("Add", {follower.inputs[4], number(Attributes(follower).real("epsilon", 1e-5F))})});
    const std::string factor = add("Div", {follower.inputs[1], deviation});
    scale(linear, factor);
    const std::string shift = add("Sub", {follower.inputs[2], add("Mul", {follower.inputs[3], factor})});
    linear.inputs[2] = sum(linear.inputs[2], shift);
    return true;
  }

  // Whether a constant, broadcast to the results, is one number or one for each channel.
  bool isOfChannels(const std::string& name) const {
    const auto found = sizes_.find(name);
    if (found == sizes_.end() || found->second.size() > rank_) return false;
    const Sizes& sizes = found->second;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != 1 && (d + rank_ - sizes.size() != 1 || sizes[d] != channels_)) return false;
    return true;
  }

  void scale(Node& linear, const std::string& factor) {
    Sizes along(rank_, 1);
    along[axis_] = -1;
    const Sizes weights = sizes_.at(linear.inputs[1]);
    linear.inputs[1] = add("Mul", {linear.inputs[1], add("Reshape", {factor, list(along)})});
    sizes_[linear.inputs[1]] = weights;
    if (linear.inputs[2].empty()) return;
    linear.inputs[2] = add("Mul", {linear.inputs[2], add("Reshape", {factor, list({-1})})});
    sizes_[linear.inputs[2]] = {channels_};
  }

  std::string sum(const std::string& bias, const std::string& shift) {
    const std::string flat = add("Reshape", {shift, list({-1})});
    std::string all = bias.empty() ? add("Expand", {flat, list({channels_})}) : add("Add", {bias, flat});
    sizes_[all] = {channels_};
    return all;
  }

  std::string list(const Sizes& values) { return constant(integerTensor(Type::Int64, values)); }
  std::string number(double value) { return constant(scalarTensor(Type::Float, value)); }
  std::string constant(HostTensor tensor) {
    std::string name = newName();
    initializers_[name] = std::make_shared<const HostTensor>(std::move(tensor));
    return name;
  }

  // Its result.
  std::string add(const char* opType, std::vector<std::string> inputs) {
    Node& node = added_.emplace_back();
    node.opType = opType;
    node.opset = kNewestOpset;
    node.inputs = std::move(inputs);
    node.outputs = {newName()};
    return node.outputs[0];
  }
  std::string newName() { return cat("/channels/", count_++); }

  std::vector<Node>& nodes_;
  Initializers& initializers_;
  std::map<std::string, Sizes> sizes_;                 // of constants of FLOAT32
  std::map<std::string, std::vector<Node*>> readers_;  // null: the model's outputs
  std::set<const Node*> gone_;
  std::vector<Node*> result_;
  std::vector<std::vector<Node>> order_;  // what comes before each node of the result
  std::vector<Node> added_;
  size_t axis_ = 0;  // of the channels in the weights
  size_t rank_ = 0;
  int64_t channels_ = 0;
  size_t count_ = 0;
};

}  // namespace

void foldChannels(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs) {
  ChannelFolder(nodes, initializers, outputs).fold();
}

}  // namespace dimple::onnx
