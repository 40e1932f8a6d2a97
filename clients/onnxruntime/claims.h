// Which nodes of a graph this provider takes, and in which groups.
#pragma once

#include <dimple.h>

#include <vector>

#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

// Of nodes in an order in which they can run, those that are taken, in as few groups as can be: no way between two
// nodes of a group leads through another node. `readsFrom[n]`: the nodes whose outputs node n reads.
std::vector<std::vector<size_t>> groupsOf(const std::vector<bool>& taken,
                                          const std::vector<std::vector<size_t>>& readsFrom);

// Whether the node that a branch or body belongs to will be taken with all of its subgraphs.
bool claimsControlFlow(const OrtNode& node, const OrtGraph& within, IDMLDevice& device);

// What becomes of groups that would only compute sizes of tensors that lie on the host.
enum class Shapes : uint8_t { Taken, Left };

// The groups of a graph's nodes that can be mapped. Types and attributes are looked at, sizes as far as they are known.
std::vector<std::vector<const OrtNode*>> claim(const OrtGraph& graph, IDMLDevice& device, Shapes shapes);

}  // namespace dimple::ort
