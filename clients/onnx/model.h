// An ONNX model that can be planned: nodes in an order in which they can run, initializers, inputs and outputs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/onnx/graph_model.h"

namespace dimple::onnx {

// Operators of this project's own, which others are made of.
inline constexpr std::string_view kInternalDomain = "dimple";
inline constexpr const char* kMicrosoft = "com.microsoft";

// A constant that consists of others, one behind the other along an axis.
struct JoinedTensor {
  Sizes sizes;
  std::vector<SharedTensor> parts;  // of one type
  size_t axis = 0;

  HostTensor value() const;
};
using JoinedTensors = std::map<std::string, JoinedTensor>;

// The names of a subgraph and those around it, by which its nodes know them; absent: they are known by themselves.
using Names = std::map<std::string, std::string>;

const std::string& renamed(const std::string& name, const Names* names);

// How far a Loop is.
struct LoopState {
  int64_t iteration = 0;
  std::vector<std::vector<std::string>> collected;  // of each output that gathers iterations: their values
};

struct Node {
  std::string opType;
  std::string domain;                                  // "" is ai.onnx
  int64_t opset = 0;                                   // of the domain
  std::vector<std::string> inputs;                     // "": absent
  std::vector<std::string> outputs;                    // "": not wanted
  std::shared_ptr<const NodeDescription> description;  // null: the model has no such node
  std::shared_ptr<const Names> names;                  // around its subgraphs
  std::optional<LoopState> loop;                       // of a Loop that has begun

  // "node \"conv1\" (Conv)"; a node without a name is named by its output.
  std::string text() const;
};

// Of ai.onnx.
inline constexpr int64_t kNewestOpset = 24;

class Model {
 public:
  // Throws ModelError. For models in files: reader.h.
  explicit Model(ModelDescription description);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::map<std::string, SharedTensor>& initializers() const { return initializers_; }
  const std::vector<ModelInput>& inputs() const { return inputs_; }  // those that are no initializers
  const std::vector<std::string>& outputs() const { return outputs_; }
  // Whether inputs may have other sizes in other runs.
  bool hasOpenSizes() const;

  // All that nodes read or that is an output.
  std::set<std::string> namesRead() const;
  // Moves the nodes that read initializers alone, and what other such nodes make, into a model of their own. What
  // follows convolutions becomes such nodes, as far as it can. The outputs are what is read of them here.
  Model takeConstantNodes();
  std::map<std::string, SharedTensor> takeInitializers() { return std::exchange(initializers_, {}); }
  // Lets products of the same rows be one, whose weights are returned and are no initializers any more.
  JoinedTensors joinProducts();
  // Drops nodes and tensors, so that nothing can be planned any more.
  void forget();

  // The nodes of a subgraph of `node`, the names of its values preceded by `prefix`; `inputs` are the names that its
  // inputs stand for. `outputs` receives the names of its outputs, `initializers` its tensors.
  std::vector<Node> subgraph(const Node& node, const GraphDescription& graph, const std::string& prefix,
                             const Names& inputs, std::vector<std::string>& outputs,
                             std::map<std::string, SharedTensor>& initializers) const;

 private:
  Model() = default;
  void checkOpsets() const;
  void addInputs(std::vector<ModelInput> inputs);
  void addNodes(const GraphDescription& graph, const std::shared_ptr<const Names>& names,
                std::vector<Node>& nodes) const;
  Node makeNode(std::shared_ptr<const NodeDescription> description, const std::shared_ptr<const Names>& names) const;

  std::map<std::string, int64_t> opsets_;
  std::vector<Node> nodes_;
  std::map<std::string, SharedTensor> initializers_;
  std::vector<ModelInput> inputs_;
  std::vector<std::string> outputs_;
};

// The nodes so that every one follows those that it reads. `known`: what none of them needs to make. Throws ModelError.
std::vector<Node> sortNodes(std::vector<Node> nodes, const std::set<std::string>& known);

}  // namespace dimple::onnx
