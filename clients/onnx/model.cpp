#include "clients/onnx/model.h"

#include <algorithm>

#include "clients/onnx/attributes.h"
#include "clients/onnx/channels.h"
#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/siblings.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

constexpr int64_t kOldestOpset = 1;

// How many elements NonZero finds is known only when it has run, so that it is two nodes: coordinates with room for all
// elements and their number, and what that number leaves of them.
void addNonZero(const Node& node, std::vector<Node>& nodes) {
  const std::string name = node.outputs.empty() ? "" : node.outputs[0];
  Node coordinates = node;
  coordinates.opType = "NonZeroCoordinates";
  coordinates.domain = kInternalDomain;
  coordinates.outputs = {name + "/coordinates", name + "/count"};
  Node prefix = node;
  prefix.opType = "NonZeroPrefix";
  prefix.domain = kInternalDomain;
  prefix.inputs = coordinates.outputs;
  nodes.push_back(std::move(coordinates));
  nodes.push_back(std::move(prefix));
}

// Whether weights cannot stay integers on the device: of 2 bits, or with zero points that are floats.
bool unpacksWeights(const Node& node, const std::map<std::string, SharedTensor>& inner,
                    const std::map<std::string, SharedTensor>& outer) {
  if (const int64_t bits = Attributes(node).integer("bits", 4); bits != 4 && bits != 8) return true;
  if (node.inputs.size() < 4) return false;
  const std::string& zeros = node.description->inputs[3];
  const auto found = inner.find(zeros);
  const auto outside = outer.find(node.inputs[3]);
  const SharedTensor tensor = found != inner.end() ? found->second : outside != outer.end() ? outside->second : nullptr;
  return tensor && tensor->type != Type::UInt8;
}

// Weights that are unpacked become floats once, apart from the product, of whose inputs only the first differs between
// runs.
void addMatMulNBits(const Node& node, std::vector<Node>& nodes) {
  const std::string weights = (node.outputs.empty() ? "" : node.outputs[0]) + "/weights";
  Node unpacking = node;
  unpacking.opType = "MatMulNBitsWeights";
  unpacking.domain = kInternalDomain;
  unpacking.inputs.resize(std::clamp<size_t>(node.inputs.size(), 1, 5));
  unpacking.inputs[0].clear();
  unpacking.outputs = {weights};
  Node product = node;
  product.opType = "MatMulNBitsProduct";
  product.domain = kInternalDomain;
  product.inputs = {node.inputs.empty() ? "" : node.inputs[0], weights, node.inputs.size() > 5 ? node.inputs[5] : ""};
  nodes.push_back(std::move(unpacking));
  nodes.push_back(std::move(product));
}

}  // namespace

const std::string& renamed(const std::string& name, const Names* names) {
  if (!names || name.empty()) return name;
  const auto found = names->find(name);
  return found == names->end() ? name : found->second;
}

std::string Node::text() const {
  std::string name = description ? description->name : "";
  if (name.empty())
    for (const std::string& output : outputs)
      if (!output.empty()) {
        name = output;
        break;
      }
  const std::string type = description ? description->opType : opType;
  const std::string from = description ? description->domain : domain;
  return cat("node \"", name, "\" (", from.empty() || from == kInternalDomain ? "" : from + ".", type, ")");
}

Model::Model(ModelDescription description)
    : opsets_(std::move(description.opsets)), initializers_(std::move(description.graph.initializers)) {
  checkOpsets();
  addInputs(std::move(description.graph.inputs));
  addNodes(description.graph, nullptr, nodes_);
  std::set<std::string> known;
  for (const auto& [name, tensor] : initializers_) known.insert(name);
  for (const ModelInput& input : inputs_) known.insert(input.name);
  nodes_ = sortNodes(std::move(nodes_), known);
  for (const Node& node : nodes_) known.insert(node.outputs.begin(), node.outputs.end());
  outputs_ = std::move(description.graph.outputs);
  for (const std::string& output : outputs_) {
    if (output.empty()) throw ModelError("The model has an output without a name.");
    if (!known.contains(output)) throw ModelError(cat("The model has an output \"", output, "\" that no node makes."));
  }
  if (outputs_.empty()) throw ModelError("The model has no outputs.");
}

void Model::checkOpsets() const {
  if (opsets_.empty()) throw ModelError("The model imports no operator set.");
  const auto found = opsets_.find("");
  if (found != opsets_.end() && (found->second < kOldestOpset || found->second > kNewestOpset))
    throw ModelError(cat("The model imports ai.onnx of version ", found->second, ", expected ", kOldestOpset, " to ",
                         kNewestOpset, "."));
}

void Model::addInputs(std::vector<ModelInput> inputs) {
  for (ModelInput& input : inputs) {
    if (input.name.empty()) throw ModelError("The model has an input without a name.");
    if (!initializers_.contains(input.name)) inputs_.push_back(std::move(input));
  }
}

Node Model::makeNode(std::shared_ptr<const NodeDescription> description,
                     const std::shared_ptr<const Names>& names) const {
  Node node;
  node.opType = description->opType;
  node.domain = description->domain;
  node.names = names;
  for (const auto& input : description->inputs) node.inputs.push_back(renamed(input, names.get()));
  for (const auto& output : description->outputs) node.outputs.push_back(renamed(output, names.get()));
  node.description = std::move(description);
  const auto found = opsets_.find(node.domain);
  if (found == opsets_.end())
    throw ModelError(cat("A ", node.text(), " is of a domain that the model does not import."));
  node.opset = found->second;
  return node;
}

void Model::addNodes(const GraphDescription& graph, const std::shared_ptr<const Names>& names,
                     std::vector<Node>& nodes) const {
  for (const auto& description : graph.nodes) {
    Node node = makeNode(description, names);
    if (node.opType == "NonZero" && node.domain.empty())
      addNonZero(node, nodes);
    else if (node.opType == "MatMulNBits" && node.domain == kMicrosoft &&
             unpacksWeights(node, graph.initializers, initializers_))
      addMatMulNBits(node, nodes);
    else
      nodes.push_back(std::move(node));
  }
}

bool Model::hasOpenSizes() const {
  return std::ranges::any_of(inputs_, [](const ModelInput& input) {
    return !input.dimensions ||
           std::ranges::any_of(*input.dimensions, [](const Dimension& dimension) { return dimension.size < 0; });
  });
}

std::set<std::string> Model::namesRead() const {
  std::set<std::string> names(outputs_.begin(), outputs_.end());
  for (const Node& node : nodes_) addNamesRead(node, names);
  return names;
}

JoinedTensors Model::joinProducts() { return joinSiblings(nodes_, initializers_, outputs_); }

Model Model::takeConstantNodes() {
  foldChannels(nodes_, initializers_, outputs_);
  std::set<std::string> known;
  for (const auto& [name, tensor] : initializers_) known.insert(name);
  Model taken;
  taken.opsets_ = opsets_;
  std::vector<Node> left;
  for (Node& node : nodes_) {
    const bool isConstant =
        !isControlFlow(node) && canRun(node) &&
        std::ranges::all_of(node.inputs, [&](const std::string& name) { return name.empty() || known.contains(name); });
    if (isConstant) known.insert(node.outputs.begin(), node.outputs.end());
    (isConstant ? taken.nodes_ : left).push_back(std::move(node));
  }
  nodes_ = std::move(left);
  std::set<std::string> made;
  for (const Node& node : taken.nodes_) made.insert(node.outputs.begin(), node.outputs.end());
  for (const std::string& name : namesRead())
    if (!name.empty() && made.contains(name)) taken.outputs_.push_back(name);
  return taken;
}

void Model::forget() {
  nodes_.clear();
  initializers_.clear();
}

std::vector<Node> Model::subgraph(const Node& node, const GraphDescription& graph, const std::string& prefix,
                                  const Names& inputs, std::vector<std::string>& outputs,
                                  std::map<std::string, SharedTensor>& initializers) const {
  auto names = std::make_shared<Names>(node.names ? *node.names : Names());
  for (const auto& [inner, outer] : inputs) (*names)[inner] = outer;
  for (const auto& [name, tensor] : graph.initializers) {
    (*names)[name] = prefix + name;
    initializers[prefix + name] = tensor;
  }
  for (const auto& inner : graph.nodes)
    for (const auto& output : inner->outputs)
      if (!output.empty()) (*names)[output] = prefix + output;
  std::vector<Node> nodes;
  addNodes(graph, names, nodes);
  outputs.clear();
  for (const auto& output : graph.outputs) outputs.push_back(renamed(output, names.get()));
  std::set<std::string> known;
  std::set<std::string> made;
  for (const Node& inner : nodes) made.insert(inner.outputs.begin(), inner.outputs.end());
  for (const Node& inner : nodes)
    for (const auto& input : inner.inputs)
      if (!made.contains(input)) known.insert(input);
  return sortNodes(std::move(nodes), known);
}

std::vector<Node> sortNodes(std::vector<Node> nodes, const std::set<std::string>& known) {
  std::map<std::string, size_t> maker;
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const auto& output : nodes[n].outputs)
      if (!output.empty() && (known.contains(output) || !maker.emplace(output, n).second))
        throw ModelError(cat("\"", output, "\" is made by ", nodes[n].text(), " and elsewhere."));
  std::vector<size_t> missing(nodes.size());
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::set<size_t> ready;  // in the model's order, where that is possible
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const auto& input : nodes[n].inputs) {
      if (input.empty() || known.contains(input)) continue;
      const auto found = maker.find(input);
      if (found == maker.end())
        throw ModelError(cat("The ", nodes[n].text(), " reads \"", input, "\", which nothing makes."));
      readers[found->second].push_back(n);
      ++missing[n];
    }
    if (missing[n] == 0) ready.insert(n);
  }
  std::vector<Node> sorted;
  while (!ready.empty()) {
    const size_t n = *ready.begin();
    ready.erase(ready.begin());
    for (const size_t reader : readers[n])
      if (--missing[reader] == 0) ready.insert(reader);
    sorted.push_back(std::move(nodes[n]));
  }
  if (sorted.size() != nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n)
      if (missing[n] != 0) throw ModelError(cat("The ", nodes[n].text(), " depends on its own outputs."));
  }
  return sorted;
}

}  // namespace dimple::onnx
