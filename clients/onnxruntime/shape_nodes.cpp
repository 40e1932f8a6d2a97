#include "clients/onnxruntime/shape_nodes.h"

#include <algorithm>
#include <set>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/mapper.h"

namespace dimple::ort {
namespace {

bool asksForSizes(const onnx::NodeDescription& node) {
  return node.domain.empty() && (node.opType == "Shape" || node.opType == "Size");
}

// Operators that sizes are computed with.
bool computesSizes(const onnx::NodeDescription& node) {
  return onnx::isFoldable(node) ||
         (node.domain.empty() && (node.opType == "ConstantOfShape" || node.opType == "Identity"));
}

class ShapeNodes {
 public:
  ShapeNodes(const onnx::ModelDescription& model, const Values& values) : model_(model), values_(values) {
    // A value that is computed from sizes and constants.
    std::set<std::string> sizes;
    const auto isSize = [&](const std::string& name) { return sizes.contains(name); };
    for (const auto& node : model.graph.nodes) {
      const auto& inputs = node->inputs;
      const bool is =
          asksForSizes(*node) || (computesSizes(*node) && std::ranges::any_of(inputs, isSize) &&
                                  std::ranges::all_of(inputs, [&](const std::string& name) {
                                    return name.empty() || isSize(name) || model.graph.initializers.contains(name);
                                  }));
      if (is) sizes.insert(node->outputs.begin(), node->outputs.end());
      is_.push_back(is);
    }
  }

  // `device`: what lies there, of which sizes are to be asked there.
  bool areAll(const std::vector<size_t>& group, const std::set<std::string>& device) const {
    const std::set<size_t> members(group.begin(), group.end());
    return std::ranges::all_of(group, [&](size_t n) {
      const onnx::NodeDescription& node = *model_.graph.nodes[n];
      if (!is_[n] || (asksForSizes(node) && !node.inputs.empty() && device.contains(node.inputs[0]))) return false;
      return std::ranges::all_of(node.outputs, [&](const std::string& name) {
        return name.empty() || isInteger(name) || isReadWithin(name, members);
      });
    });
  }

 private:
  bool isInteger(const std::string& name) const {
    const auto found = values_.find(name);
    return found != values_.end() && (onnx::isInteger(found->second.type) || found->second.type == onnx::Type::Bool);
  }

  // By these nodes, and by no others.
  bool isReadWithin(const std::string& name, const std::set<size_t>& members) const {
    bool within = false;
    for (size_t n = 0; n < model_.graph.nodes.size(); ++n) {
      std::set<std::string> read;
      onnx::addNamesRead(*model_.graph.nodes[n], read);
      if (!read.contains(name)) continue;
      if (!members.contains(n)) return false;
      within = true;
    }
    return within;
  }

  const onnx::ModelDescription& model_;
  const Values& values_;
  std::vector<bool> is_;  // by node
};

}  // namespace

std::vector<std::vector<size_t>> withoutShapes(std::vector<std::vector<size_t>> groups,
                                               const onnx::ModelDescription& model, const Values& values) {
  const ShapeNodes shapes(model, values);
  std::set<std::string> device;
  std::vector<std::vector<size_t>> left;
  for (auto& group : groups) {
    if (shapes.areAll(group, device)) continue;
    for (const size_t n : group) {
      const auto& outputs = model.graph.nodes[n]->outputs;
      device.insert(outputs.begin(), outputs.end());
    }
    left.push_back(std::move(group));
  }
  return left;
}

}  // namespace dimple::ort
