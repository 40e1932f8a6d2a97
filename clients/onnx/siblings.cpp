#include "clients/onnx/siblings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clients/onnx/attributes.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/float_siblings.h"
#include "clients/onnx/sibling_parts.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

enum : size_t { kRows, kIntegers, kScales, kZeroPoints, kGroupIndices, kProductBias };

// A product that may be joined with others.
struct Sibling {
  Node* node = nullptr;
  int64_t depth = 0, columns = 0, block = 0, bits = 0;
  Type type = Type::Undefined;  // of the scales

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t zeroBytes() const { return (blocks() * bits + 7) / 8; }
  bool has(size_t input) const { return node->inputs.size() > input && !node->inputs[input].empty(); }
  // What an input with weights has to be.
  TensorInfo expected(size_t input) const {
    switch (input) {
      case kIntegers:
        return {Type::UInt8, {columns, blocks(), block * bits / 8}};
      case kScales:
        return {type, {columns, blocks()}};
      case kZeroPoints:
        return {Type::UInt8, {columns, zeroBytes()}};
      default:
        return {type, {columns}};
    }
  }
  bool isAlike(const Sibling& other) const {
    return node->inputs[kRows] == other.node->inputs[kRows] && depth == other.depth && block == other.block &&
           bits == other.bits && type == other.type && node->opset == other.node->opset;
  }
};

class SiblingJoiner {
 public:
  SiblingJoiner(std::vector<Node>& nodes, Initializers& initializers, const std::vector<std::string>& outputs)
      : nodes_(nodes), initializers_(initializers), readers_(readersOf(nodes, outputs)) {}

  JoinedTensors join() {
    std::map<std::string, std::vector<Sibling>> byRows;
    for (Node& node : nodes_)
      if (const auto sibling = siblingIfReadable(node)) byRows[node.inputs[kRows]].push_back(*sibling);
    for (auto& [rows, left] : byRows)
      while (left.size() > 1) {
        const auto others = std::stable_partition(left.begin(), left.end(),
                                                  [first = left[0]](const Sibling& one) { return first.isAlike(one); });
        join({left.begin(), others});
        left.erase(left.begin(), others);
      }
    std::vector<Node> all;
    for (Node& node : nodes_) {
      if (gone_.contains(&node)) continue;
      const auto split = splits_.find(&node);
      all.push_back(std::move(node));
      if (split != splits_.end()) all.push_back(std::move(split->second));
    }
    nodes_ = std::move(all);
    return std::move(joined_);
  }

 private:
  // An attribute of another kind is refused where the node is mapped.
  std::optional<Sibling> siblingIfReadable(Node& node) const {
    try {
      return siblingOf(node);
    } catch (const ModelError&) {
      return {};
    }
  }

  // No value: it stays as it is, also if something is wrong with it.
  std::optional<Sibling> siblingOf(Node& node) const {
    if (node.opType != "MatMulNBits" || node.domain != kMicrosoft || !node.description || node.inputs.size() < 3 ||
        node.outputs.size() != 1 || node.inputs[kRows].empty() || initializers_.contains(node.inputs[kRows]))
      return {};
    const Attributes attributes(node);
    Sibling sibling{&node, attributes.integer("K", 0), attributes.integer("N", 0), attributes.integer("block_size", 0),
                    attributes.integer("bits", 4)};
    constexpr int64_t kMost = int64_t{1} << 24;
    if ((sibling.bits != 4 && sibling.bits != 8) || sibling.block < 2 || sibling.block > kMost || sibling.depth < 1 ||
        sibling.depth > kMost || sibling.columns < 1 || sibling.columns > kMost ||
        sibling.block * sibling.bits % 8 != 0 || sibling.has(kGroupIndices) || attributes.flag("weight_prepacked"))
      return {};
    const auto scales = initializers_.find(node.inputs[kScales]);
    if (scales == initializers_.end() || !isFloat(scales->second->type)) return {};
    sibling.type = scales->second->type;
    if (sibling.columns * static_cast<int64_t>(traits(sibling.type).deviceBytes) % kSiblingPartBytes != 0) return {};
    for (const size_t input : {kIntegers, kScales, kZeroPoints, kProductBias})
      if (sibling.has(input) && !isOwn(node.inputs[input], sibling.expected(input))) return {};
    return sibling.has(kIntegers) ? std::optional(sibling) : std::nullopt;
  }

  // Whether it is such a constant, which one node reads. Its sizes may be others.
  bool isOwn(const std::string& name, const TensorInfo& expected) const {
    const auto found = initializers_.find(name);
    return found != initializers_.end() && found->second->type == expected.type &&
           found->second->elements() == elementCount(expected.sizes) && readers_.at(name) == 1;
  }

  void join(const std::vector<Sibling>& siblings) {
    if (siblings.size() < 2) return;
    const Sibling& first = siblings[0];
    int64_t columns = 0;
    for (const Sibling& one : siblings) columns += one.columns;
    if (columns * first.blocks() * first.block * first.bits / 8 > kMostSiblingBytes) return;
    Node node = *first.node;
    const std::string prefix = cat("/siblings/", first.node->outputs[0]);
    const bool hasZeroPoints = anyHas(siblings, kZeroPoints), hasBias = anyHas(siblings, kProductBias);
    node.inputs.assign({first.node->inputs[kRows], prefix + "/integers", prefix + "/scales",
                        hasZeroPoints ? prefix + "/zeroPoints" : "", "", hasBias ? prefix + "/bias" : ""});
    auto description = std::make_shared<NodeDescription>(*node.description);
    std::string name;
    for (const Sibling& one : siblings) name += cat(name.empty() ? "" : " beside ", one.node->description->name);
    description->name = name;
    for (Attribute& attribute : description->attributes)
      if (attribute.name == "N") attribute.integer = columns;
    node.description = std::move(description);
    node.outputs = {prefix};
    for (const size_t input : {kIntegers, kScales, kZeroPoints, kProductBias})
      if (!node.inputs[input].empty()) joined_[node.inputs[input]] = joinedInput(siblings, input);
    std::vector<SiblingPart> parts;
    for (const Sibling& one : siblings) parts.push_back({one.node->outputs[0], one.columns});
    splits_.emplace(first.node, splitOfSiblings(parts, prefix, initializers_));
    for (const Sibling& one : siblings) {
      for (size_t input = kIntegers; input < one.node->inputs.size(); ++input)
        initializers_.erase(one.node->inputs[input]);
      gone_.insert(one.node);
    }
    gone_.erase(first.node);
    *first.node = std::move(node);
  }

  static bool anyHas(const std::vector<Sibling>& siblings, size_t input) {
    return std::ranges::any_of(siblings, [&](const Sibling& one) { return one.has(input); });
  }

  JoinedTensor joinedInput(const std::vector<Sibling>& siblings, size_t input) const {
    JoinedTensor joined;
    for (const Sibling& one : siblings) {
      const TensorInfo expected = one.expected(input);
      joined.parts.push_back(one.has(input) ? initializers_.at(one.node->inputs[input]) : absentInput(expected, one));
      if (joined.sizes.empty())
        joined.sizes = expected.sizes;
      else
        joined.sizes[0] += expected.sizes[0];
    }
    return joined;
  }

  // What an absent input means: the middle of the range, or a bias of zeros.
  static SharedTensor absentInput(const TensorInfo& info, const Sibling& sibling) {
    HostTensor tensor(info.type, info.sizes);
    if (info.type == Type::UInt8) std::ranges::fill(tensor.bytes, std::byte(sibling.bits == 4 ? 0x88 : 0x80));
    return std::make_shared<const HostTensor>(std::move(tensor));
  }

  std::vector<Node>& nodes_;
  Initializers& initializers_;
  const std::map<std::string, size_t> readers_;
  std::set<const Node*> gone_;
  std::map<const Node*, Node> splits_;  // that follow nodes
  JoinedTensors joined_;
};

}  // namespace

Node splitOfSiblings(const std::vector<SiblingPart>& parts, const std::string& whole, Initializers& initializers) {
  Sizes columns;
  Node split;
  for (const SiblingPart& part : parts) {
    columns.push_back(part.columns);
    split.outputs.push_back(part.name);
  }
  NodeDescription description;
  description.name = whole;
  description.opType = split.opType = "Split";
  Attribute& axis = description.attributes.emplace_back();
  axis.name = "axis";
  axis.kind = AttributeKind::Integer;
  axis.integer = -1;
  split.description = std::make_shared<const NodeDescription>(std::move(description));
  split.opset = kNewestOpset;
  split.inputs = {whole, whole + "/columns"};
  initializers[split.inputs[1]] = std::make_shared<const HostTensor>(integerTensor(Type::Int64, columns));
  return split;
}

std::map<std::string, size_t> readersOf(const std::vector<Node>& nodes, const std::vector<std::string>& outputs) {
  std::map<std::string, size_t> readers;
  for (const std::string& name : outputs) ++readers[name];
  for (const Node& node : nodes) {
    std::set<std::string> read;
    addNamesRead(node, read);
    for (const std::string& name : read) ++readers[name];
  }
  return readers;
}

HostTensor JoinedTensor::value() const {
  HostTensor all(parts[0]->type, sizes);
  // Of each part, what lies between two steps of the axes before the one along which they are joined.
  size_t runs = 1;
  for (size_t d = 0; d < axis; ++d) runs *= static_cast<size_t>(sizes[d]);
  auto to = all.bytes.begin();
  for (size_t run = 0; run < runs; ++run)
    for (const SharedTensor& part : parts) {
      const size_t bytes = part->bytes.size() / runs;
      to = std::ranges::copy(std::span(part->bytes).subspan(run * bytes, bytes), to).out;
    }
  return all;
}

JoinedTensors joinSiblings(std::vector<Node>& nodes, Initializers& initializers,
                           const std::vector<std::string>& outputs) {
  JoinedTensors joined = SiblingJoiner(nodes, initializers, outputs).join();
  joinFloatSiblings(nodes, initializers, outputs, joined);
  return joined;
}

}  // namespace dimple::onnx
