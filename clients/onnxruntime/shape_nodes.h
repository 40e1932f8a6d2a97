// Nodes that compute sizes of tensors, which need no device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clients/onnx/graph_model.h"

namespace dimple::ort {

// What is known of the values of a graph, by name.
using Values = std::map<std::string, onnx::ModelInput>;

// Those of `groups`, which name nodes of `model` by index, that do more than to compute integers from the sizes of
// tensors on the host: the others would only carry such integers to the device and back. The groups are in an order in
// which they can run, and so are the nodes.
std::vector<std::vector<size_t>> withoutShapes(std::vector<std::vector<size_t>> groups,
                                               const onnx::ModelDescription& model, const Values& values);

}  // namespace dimple::ort
