// ONNX Runtime's graphs as models of this project.
#pragma once

#include <span>

#include "clients/onnx/graph_model.h"
#include "clients/onnxruntime/runtime.h"

namespace dimple::ort {

// Type Undefined for what is no tensor; no dimensions where the rank is not known.
onnx::ModelInput describeValue(const OrtValueInfo& value);
std::string nameOf(const OrtValueInfo& value);
std::string nameOf(const OrtNode& node);
bool isConstant(const OrtValueInfo& value);

// Which constants are read: those of at most so many bytes.
struct ReadOptions {
  size_t maxConstantBytes = SIZE_MAX;
};

// Whether a node, or one of its subgraphs', has a meaning of a newer operator set than those that are known here.
bool isTooNew(const OrtNode& node);

// Nodes of a graph with the constants that they read, whatever scope these are of. Inputs and outputs are left empty. A
// newer operator set counts as the newest that is known, which it is for nodes that are not too new.
onnx::ModelDescription describeNodes(const OrtGraph& graph, std::span<const OrtNode* const> nodes,
                                     const ReadOptions& options = {});

// Throws StatusError for what is no tensor.
onnx::TensorInfo describeTensor(const OrtValue& value);

// The tensor, which lies in host memory. Throws StatusError or onnx::ModelError.
onnx::SharedTensor readTensor(const OrtValue& value);

// The names of a node's inputs or outputs; "": absent.
std::vector<const OrtValueInfo*> inputsOf(const OrtNode& node);
std::vector<const OrtValueInfo*> outputsOf(const OrtNode& node);
std::vector<const OrtNode*> nodesOf(const OrtGraph& graph);
std::vector<const OrtGraph*> subgraphsOf(const OrtNode& node);

}  // namespace dimple::ort
