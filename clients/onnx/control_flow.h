// If and Loop: nodes that stand for others, which depend on a value.
#pragma once

#include "clients/onnx/model.h"

namespace dimple::onnx {

// Tensors that the nodes need, by their names.
using Initializers = std::map<std::string, SharedTensor>;

bool isControlFlow(const Node& node);

// Adds all names that what the node becomes may read: its inputs, those of its subgraphs, and what a Loop has
// collected.
void addNamesRead(const Node& node, std::set<std::string>& names);
// The same of a node of the outermost graph.
void addNamesRead(const NodeDescription& node, std::set<std::string>& names);

// The branch of an If. Throws ModelError.
std::vector<Node> expandIf(const Model& model, const Node& node, bool condition, Initializers& initializers);

// The body of a Loop once, and the rest of the Loop behind it, which `node` becomes; if it does not go on, its outputs.
// Throws ModelError, and leaves `node` as it was.
std::vector<Node> expandLoop(const Model& model, Node&& node, bool goesOn, Initializers& initializers);

}  // namespace dimple::onnx
