#include "clients/onnxruntime/claims.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnxruntime/graph_reader.h"
#include "clients/onnxruntime/shape_nodes.h"

namespace dimple::ort {
namespace {

// Larger ones say nothing about whether a node can be mapped.
constexpr size_t kMaxReadConstant = size_t{64} << 10;

bool isTaken(size_t level) { return level % 2 == 0; }

// What a node and those within it read and make.
void addValues(const OrtNode& node, Values& values) {
  for (const auto& list : {inputsOf(node), outputsOf(node)})
    for (const OrtValueInfo* value : list)
      if (value) values.try_emplace(nameOf(*value), describeValue(*value));
  for (const OrtGraph* graph : subgraphsOf(node))
    for (const OrtNode* inner : nodesOf(*graph)) addValues(*inner, values);
}

// Looks at the nodes of a model by themselves.
class Trial {
 public:
  Trial(const onnx::ModelDescription& model, const Values& values, IDMLDevice& device)
      : model_(model), values_(values), device_(device) {}

  bool maps(size_t index) const {
    const onnx::Node node = nodeOf(model_.graph.nodes[index]);
    if (!typesAreKnown(*node.description)) return false;
    if (onnx::isControlFlow(node)) return mapsControlFlow(*node.description);
    if (!onnx::canRun(node)) return false;
    const onnx::Mapping* mapping = onnx::findMapping(node);
    if (!mapping) return true;
    onnx::GraphBuilder graph(device_);
    std::map<std::string, onnx::Value> values;
    try {
      for (const std::string& name : node.inputs) {
        if (name.empty()) continue;
        auto value = valueOf(name, graph);
        // Its sizes come with the first run.
        if (!value) return true;
        values[name] = std::move(*value);
      }
      onnx::NodeContext context(node, values, graph);
      if (!onnx::foldNode(context)) mapping->map(context);
      return context.unknown() || std::ranges::all_of(node.outputs, [&](const std::string& name) {
               return name.empty() || context.outputs().contains(name);
             });
    } catch (const onnx::ModelError&) {
      return false;
    }
  }

 private:
  std::optional<onnx::Value> valueOf(const std::string& name, onnx::GraphBuilder& graph) const {
    const auto& constants = model_.graph.initializers;
    if (const auto constant = constants.find(name); constant != constants.end())
      return onnx::hostValue(constant->second);
    const auto found = values_.find(name);
    if (found == values_.end() || !found->second.dimensions) return {};
    onnx::Sizes sizes;
    for (const onnx::Dimension& dimension : *found->second.dimensions) {
      if (dimension.size < 0) return {};
      sizes.push_back(dimension.size);
    }
    if (onnx::elementCount(sizes) == 0) return onnx::hostValue(onnx::HostTensor(found->second.type, sizes));
    return graph.addInput(name, found->second.type, sizes);
  }

  // Also those of views, which would pass on what no device can have.
  bool typesAreKnown(const onnx::NodeDescription& node) const {
    const auto isKnown = [&](const std::string& name) {
      const auto found = values_.find(name);
      return found == values_.end() || onnx::traits(found->second.type).device != DML_TENSOR_DATA_TYPE_UNKNOWN;
    };
    return std::ranges::all_of(node.inputs, isKnown) && std::ranges::all_of(node.outputs, isKnown) &&
           std::ranges::all_of(node.attributes, [&](const onnx::Attribute& attribute) {
             return !attribute.graph || std::ranges::all_of(attribute.graph->nodes,
                                                            [&](const auto& inner) { return typesAreKnown(*inner); });
           });
  }

  // The nodes within are mapped when their branch is chosen.
  bool mapsControlFlow(const onnx::NodeDescription& node) const {
    const auto mapsInner = [&](const auto& description) {
      const onnx::Node inner = nodeOf(description);
      return onnx::isControlFlow(inner) ? mapsControlFlow(*description) : onnx::canRun(inner);
    };
    return std::ranges::all_of(node.attributes, [&](const onnx::Attribute& attribute) {
      return !attribute.graph || std::ranges::all_of(attribute.graph->nodes, mapsInner);
    });
  }

  onnx::Node nodeOf(const std::shared_ptr<const onnx::NodeDescription>& description) const {
    onnx::Node node;
    node.opType = description->opType;
    node.domain = description->domain;
    const auto opset = model_.opsets.find(node.domain);
    node.opset = opset == model_.opsets.end() ? 0 : opset->second;
    node.inputs = description->inputs;
    node.outputs = description->outputs;
    node.description = description;
    return node;
  }

  const onnx::ModelDescription& model_;
  const Values& values_;
  IDMLDevice& device_;
};

std::vector<std::vector<size_t>> readsOf(const std::vector<std::shared_ptr<const onnx::NodeDescription>>& nodes) {
  std::map<std::string, size_t> makers;
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const std::string& name : nodes[n]->outputs)
      if (!name.empty()) makers[name] = n;
  std::vector<std::vector<size_t>> reads(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    std::set<std::string> names;
    onnx::addNamesRead(*nodes[n], names);
    for (const std::string& name : names)
      if (const auto maker = makers.find(name); maker != makers.end() && maker->second != n)
        reads[n].push_back(maker->second);
  }
  return reads;
}

}  // namespace

std::vector<std::vector<size_t>> groupsOf(const std::vector<bool>& taken,
                                          const std::vector<std::vector<size_t>>& readsFrom) {
  // Along every way levels only rise: those of nodes that are taken are even, the others odd. Nodes of one level make a
  // group, since a way that leaves a level does not come back.
  const size_t count = taken.size();
  std::vector<size_t> levels(count);
  size_t top = 0;
  for (size_t n = 0; n < count; ++n) {
    levels[n] = taken[n] ? 0 : 1;
    for (const size_t from : readsFrom[n])
      levels[n] = std::max(levels[n], levels[from] + (taken[from] == taken[n] ? 0 : 1));
    top = std::max(top, levels[n]);
  }
  // As late as those allow that read them, so that what begins early waits for the group of its reader.
  std::vector<size_t> latest(count, SIZE_MAX);
  for (size_t n = count; n-- > 0;) {
    if (taken[n] && latest[n] != SIZE_MAX) levels[n] = latest[n];
    for (const size_t from : readsFrom[n])
      latest[from] = std::min(latest[from], levels[n] - (taken[from] == taken[n] ? 0 : 1));
  }
  std::vector<std::vector<size_t>> groups(top / 2 + 1);
  for (size_t n = 0; n < count; ++n)
    if (isTaken(levels[n])) groups[levels[n] / 2].push_back(n);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

bool claimsControlFlow(const OrtNode& node, const OrtGraph& within, IDMLDevice& device) {
  if (isTooNew(node)) return false;
  // The operator sets are those of the model.
  const onnx::ModelDescription model = describeNodes(within, std::array{&node}, {.maxConstantBytes = 0});
  Values values;
  addValues(node, values);
  return Trial(model, values, device).maps(0);
}

std::vector<std::vector<const OrtNode*>> claim(const OrtGraph& graph, IDMLDevice& device, Shapes shapes) {
  const std::vector<const OrtNode*> nodes = nodesOf(graph);
  const onnx::ModelDescription model = describeNodes(graph, nodes, {.maxConstantBytes = kMaxReadConstant});
  Values values;
  for (const OrtNode* node : nodes) addValues(*node, values);
  const Trial trial(model, values, device);
  std::vector<bool> taken(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    const char* provider = nullptr;
    check(runtime().api->Node_GetEpName(nodes[n], &provider));
    if ((provider && *provider) || isTooNew(*nodes[n])) continue;
    taken[n] = trial.maps(n);
  }
  auto groups = groupsOf(taken, readsOf(model.graph.nodes));
  if (shapes == Shapes::Left) groups = withoutShapes(std::move(groups), model, values);
  std::vector<std::vector<const OrtNode*>> claimed;
  for (const std::vector<size_t>& group : groups) {
    auto& members = claimed.emplace_back();
    for (const size_t n : group) members.push_back(nodes[n]);
  }
  return claimed;
}

}  // namespace dimple::ort
