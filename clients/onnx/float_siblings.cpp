#include "clients/onnx/float_siblings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clients/onnx/attributes.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/sibling_parts.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

enum : size_t { kRowsOfProduct, kWeightsOfProduct, kBiasOfProduct };

// A product that may be joined with others, and what adds its bias.
struct FloatSibling {
  Node* product = nullptr;
  Node* sum = nullptr;  // a node of its own; null: there is none
  SharedTensor weights;
  SharedTensor bias;    // null: nothing is added
  bool turned = false;  // columns of the product are rows of the weights
  int64_t depth = 0, columns = 0;

  const std::string& result() const { return (sum ? sum : product)->outputs[0]; }
  bool isAlike(const FloatSibling& other) const {
    return product->opType == other.product->opType && product->opset == other.product->opset &&
           weights->type == other.weights->type && turned == other.turned && depth == other.depth &&
           !bias == !other.bias && !sum == !other.sum;
  }
};

class FloatSiblingJoiner {
 public:
  FloatSiblingJoiner(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs,
                     JoinedTensors& joined)
      : nodes_(nodes), initializers_(initializers), joined_(joined), readers_(readersOf(nodes, outputs)) {
    for (Node& node : nodes)
      for (const std::string& name : node.inputs) reader_[name] = &node;
  }

  void join() {
    std::map<std::string, std::vector<FloatSibling>> byRows;
    for (Node& node : nodes_)
      if (const auto sibling = siblingIfReadable(node)) byRows[node.inputs[kRowsOfProduct]].push_back(*sibling);
    for (auto& [rows, left] : byRows)
      while (left.size() > 1) {
        const auto others = std::stable_partition(
            left.begin(), left.end(), [first = left[0]](const FloatSibling& one) { return first.isAlike(one); });
        joinAlike({left.begin(), others});
        left.erase(left.begin(), others);
      }
    std::vector<Node> all;
    for (Node& node : nodes_) {
      const auto instead = instead_.find(&node);
      if (instead == instead_.end())
        all.push_back(std::move(node));
      else
        std::ranges::move(instead->second, std::back_inserter(all));
    }
    nodes_ = std::move(all);
  }

 private:
  // An attribute of another kind is refused where the node is mapped.
  std::optional<FloatSibling> siblingIfReadable(Node& node) const {
    try {
      return siblingOf(node);
    } catch (const ModelError&) {
      return {};
    }
  }

  std::optional<FloatSibling> siblingOf(Node& node) const {
    const bool isGemm = node.opType == "Gemm";
    if ((!isGemm && node.opType != "MatMul") || !node.domain.empty() || !node.description || node.inputs.size() < 2 ||
        node.outputs.size() != 1 || node.inputs[kRowsOfProduct].empty() ||
        initializers_.contains(node.inputs[kRowsOfProduct]))
      return {};
    FloatSibling sibling;
    sibling.product = &node;
    if (isGemm) {
      const Attributes attributes(node);
      if (attributes.flag("transA") || attributes.real("alpha", 1) != 1 || attributes.real("beta", 1) != 1) return {};
      sibling.turned = attributes.flag("transB");
    }
    sibling.weights = ownOf(node.inputs[kWeightsOfProduct]);
    if (!sibling.weights || sibling.weights->sizes.size() != 2) return {};
    sibling.depth = sibling.weights->sizes[sibling.turned ? 1 : 0];
    sibling.columns = sibling.weights->sizes[sibling.turned ? 0 : 1];
    if (sibling.depth == 0 || sibling.columns == 0 || partBytes(sibling) % kSiblingPartBytes != 0) return {};
    if (isGemm && node.inputs.size() > kBiasOfProduct && !node.inputs[kBiasOfProduct].empty()) {
      sibling.bias = biasOf(sibling, node.inputs[kBiasOfProduct]);
      return sibling.bias ? std::optional(sibling) : std::nullopt;
    }
    if (!isGemm) takeSum(sibling);
    return sibling;
  }

  static int64_t partBytes(const FloatSibling& sibling) {
    return sibling.columns * static_cast<int64_t>(traits(sibling.weights->type).deviceBytes);
  }

  // A constant of floats that one node reads. Null: it is none.
  SharedTensor ownOf(const std::string& name) const {
    const auto found = initializers_.find(name);
    return found != initializers_.end() && isFloat(found->second->type) && readers_.at(name) == 1 ? found->second
                                                                                                  : nullptr;
  }

  // ... of one element for each column of the product.
  SharedTensor biasOf(const FloatSibling& sibling, const std::string& name) const {
    const SharedTensor bias = ownOf(name);
    const bool fits = bias && bias->type == sibling.weights->type && bias->sizes == Sizes{sibling.columns};
    return fits ? bias : nullptr;
  }

  // Takes the Add that alone reads the product, if it adds a bias.
  void takeSum(FloatSibling& sibling) const {
    const std::string& product = sibling.product->outputs[0];
    const auto readers = readers_.find(product);
    const auto reader = reader_.find(product);
    if (readers == readers_.end() || readers->second != 1 || reader == reader_.end()) return;
    Node& sum = *reader->second;
    if (sum.opType != "Add" || !sum.domain.empty() || !sum.description || sum.inputs.size() != 2 ||
        sum.outputs.size() != 1 || sum.inputs[0] == sum.inputs[1])
      return;
    sibling.bias = biasOf(sibling, sum.inputs[sum.inputs[0] == product ? 1 : 0]);
    if (sibling.bias) sibling.sum = &sum;
  }

  void joinAlike(const std::vector<FloatSibling>& siblings) {
    const FloatSibling& first = siblings[0];
    int64_t bytes = 0;
    for (const FloatSibling& one : siblings) bytes += partBytes(one) * one.depth;
    if (siblings.size() < 2 || bytes > kMostSiblingBytes) return;
    const std::string prefix = cat("/siblings/", first.result());
    const std::string product = first.sum ? prefix + "/product" : prefix;
    std::vector<Node> made{joinedNode(siblings, &FloatSibling::product, product)};
    made[0].inputs = {first.product->inputs[kRowsOfProduct], prefix + "/weights"};
    JoinedTensor& weights = joined_[prefix + "/weights"];
    for (const FloatSibling& one : siblings) weights.parts.push_back(one.weights);
    weights.sizes = first.weights->sizes;
    weights.axis = first.turned ? 0 : 1;
    weights.sizes[weights.axis] = 0;
    for (const FloatSibling& one : siblings) weights.sizes[weights.axis] += one.columns;
    if (first.bias) initializers_[prefix + "/bias"] = joinedBias(siblings);
    if (first.sum) {
      made.push_back(joinedNode(siblings, &FloatSibling::sum, prefix));
      made[1].inputs = {product, prefix + "/bias"};
    } else if (first.bias) {
      made[0].inputs.push_back(prefix + "/bias");
    }
    std::vector<SiblingPart> parts;
    for (const FloatSibling& one : siblings) parts.push_back({one.result(), one.columns});
    made.push_back(splitOfSiblings(parts, prefix, initializers_));
    for (const FloatSibling& one : siblings)
      for (const Node* node : {one.product, one.sum}) {
        if (!node) continue;
        for (const std::string& name : node->inputs) initializers_.erase(name);
        instead_[node];
      }
    instead_[first.product] = std::move(made);
  }

  static Node joinedNode(const std::vector<FloatSibling>& siblings, Node* FloatSibling::*which,
                         const std::string& result) {
    Node node = *(siblings[0].*which);
    auto description = std::make_shared<NodeDescription>(*node.description);
    description->name.clear();
    for (const FloatSibling& one : siblings)
      description->name += cat(description->name.empty() ? "" : " beside ", (one.*which)->description->name);
    node.description = std::move(description);
    node.outputs = {result};
    return node;
  }

  static SharedTensor joinedBias(const std::vector<FloatSibling>& siblings) {
    JoinedTensor bias{{0}, {}};
    for (const FloatSibling& one : siblings) {
      bias.sizes[0] += one.columns;
      bias.parts.push_back(one.bias);
    }
    return std::make_shared<const HostTensor>(bias.value());
  }

  std::vector<Node>& nodes_;
  Initializers& initializers_;
  JoinedTensors& joined_;
  const std::map<std::string, size_t> readers_;
  std::map<std::string, Node*> reader_;               // of tensors that one node reads: that node
  std::map<const Node*, std::vector<Node>> instead_;  // what stands in the place of a node that leaves
};

}  // namespace

void joinFloatSiblings(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs,
                       JoinedTensors& joined) {
  FloatSiblingJoiner(nodes, initializers, outputs, joined).join();
}

}  // namespace dimple::onnx
