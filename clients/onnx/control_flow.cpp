#include "clients/onnx/control_flow.h"

#include "clients/onnx/attributes.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

Node makeNode(std::string_view domain, const char* opType, std::vector<std::string> inputs, const std::string& output) {
  Node node;
  node.domain = domain;
  node.opType = opType;
  node.opset = 1;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  return node;
}

Node alias(const std::string& from, const std::string& to) { return makeNode("", "Identity", {from}, to); }

// The prefix of the names in a node's subgraph.
std::string prefixOf(const Node& node) {
  for (const std::string& output : node.outputs)
    if (!output.empty()) return output + "/";
  return "/";
}

const GraphDescription& graphOf(const Node& node, const char* attribute) {
  const GraphDescription* graph = Attributes(node).graph(attribute);
  if (!graph) throw ModelError(cat("Attribute ", attribute, " is absent, expected a graph."));
  return *graph;
}

// Also what the graph makes itself, which has no such name outside.
void addNamesRead(const GraphDescription& graph, const Names* around, std::set<std::string>& names) {
  for (const auto& output : graph.outputs) names.insert(renamed(output, around));
  for (const auto& node : graph.nodes) {
    for (const auto& input : node->inputs) names.insert(renamed(input, around));
    for (const auto& attribute : node->attributes)
      if (attribute.graph) addNamesRead(*attribute.graph, around, names);
  }
}

}  // namespace

void addNamesRead(const Node& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  if (node.loop)
    for (const auto& collected : node.loop->collected) names.insert(collected.begin(), collected.end());
  if (!node.description) return;
  for (const auto& attribute : node.description->attributes)
    if (attribute.graph) addNamesRead(*attribute.graph, node.names.get(), names);
}

void addNamesRead(const NodeDescription& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const auto& attribute : node.attributes)
    if (attribute.graph) addNamesRead(*attribute.graph, nullptr, names);
}

bool isControlFlow(const Node& node) { return node.domain.empty() && (node.opType == "If" || node.opType == "Loop"); }

std::vector<Node> expandIf(const Model& model, const Node& node, bool condition, Initializers& initializers) {
  const char* branch = condition ? "then_branch" : "else_branch";
  std::vector<std::string> outputs;
  std::vector<Node> nodes = model.subgraph(node, graphOf(node, branch), prefixOf(node), {}, outputs, initializers);
  if (outputs.size() < node.outputs.size())
    throw ModelError(cat(branch, " has ", outputs.size(), " outputs, expected ", node.outputs.size(), "."));
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty()) nodes.push_back(alias(outputs[i], node.outputs[i]));
  return nodes;
}

std::vector<Node> expandLoop(const Model& model, Node&& node, bool goesOn, Initializers& initializers) {
  const GraphDescription& body = graphOf(node, "body");
  if (node.inputs.size() < 2 || body.inputs.size() != node.inputs.size() ||
      body.outputs.size() != node.outputs.size() + 1)
    throw ModelError(cat("Its body has ", body.inputs.size(), " inputs and ", body.outputs.size(),
                         " outputs, expected ", node.inputs.size(), " and ", node.outputs.size() + 1, "."));
  const size_t carried = node.inputs.size() - 2;
  if (carried > node.outputs.size()) throw ModelError("It carries more values than it has outputs.");
  const int64_t iteration = node.loop ? node.loop->iteration : 0;
  std::vector<Node> nodes;
  if (!goesOn) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (i < carried)
        nodes.push_back(alias(node.inputs[i + 2], node.outputs[i]));
      else if (iteration == 0)
        throw ModelError("It ends before its first iteration, so that what it collects has no sizes.");
      else
        nodes.push_back(makeNode(kInternalDomain, "Stack", node.loop->collected[i - carried], node.outputs[i]));
    }
    return nodes;
  }

  const std::string prefix = cat(prefixOf(node), iteration, "/");
  HostTensor number(Type::Int64, {});
  number.setInteger(0, iteration);
  initializers[prefix] = std::make_shared<const HostTensor>(std::move(number));
  std::string condition = node.inputs[1];
  if (condition.empty()) {
    condition = prefix + "/";
    initializers[condition] = std::make_shared<const HostTensor>(scalarTensor(Type::Bool, 1));
  }
  Names inputs = {{body.inputs[0].name, prefix}, {body.inputs[1].name, condition}};
  for (size_t i = 0; i < carried; ++i) inputs[body.inputs[i + 2].name] = node.inputs[i + 2];
  std::vector<std::string> outputs;
  nodes = model.subgraph(node, body, prefix, inputs, outputs, initializers);

  Node rest = std::move(node);
  LoopState& state = rest.loop ? *rest.loop : rest.loop.emplace();
  state.iteration = iteration + 1;
  state.collected.resize(rest.outputs.size() - carried);
  for (size_t i = 0; i < state.collected.size(); ++i) state.collected[i].push_back(outputs[1 + carried + i]);
  for (size_t i = 0; i <= carried; ++i) rest.inputs[i + 1] = outputs[i];
  nodes.push_back(std::move(rest));
  return nodes;
}

}  // namespace dimple::onnx
