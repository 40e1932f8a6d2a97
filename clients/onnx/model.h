// An ONNX model as it was read: nodes in an order in which they can run, initializers, inputs and outputs.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clients/onnx/tensor.h"

namespace dimple::onnx {

// Operators of this project's own, which others are made of.
inline constexpr std::string_view kInternalDomain = "dimple";

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
  std::string domain;                // "" is ai.onnx
  int64_t opset = 0;                 // of the domain
  std::vector<std::string> inputs;   // "": absent
  std::vector<std::string> outputs;  // "": not wanted
  const ::onnx::NodeProto* proto = nullptr;
  std::shared_ptr<const Names> names;  // around its subgraphs
  std::optional<LoopState> loop;       // of a Loop that has begun

  // "node \"conv1\" (Conv)"; a node without a name is named by its output.
  std::string text() const;
};

// A dimension that is not known before inputs are given has size -1, and a name if the model names it.
struct Dimension {
  int64_t size = -1;
  std::string name;
};

struct ModelInput {
  std::string name;
  Type type;
  std::optional<std::vector<Dimension>> dimensions;  // absent: of any rank
};

class Model {
 public:
  // Throw ModelError. External data is read from the model's folder, and from nowhere else.
  static Model load(const std::filesystem::path& path);
  static Model parse(std::string_view bytes, const std::filesystem::path& folder);
  Model(std::unique_ptr<::onnx::ModelProto> proto, const std::filesystem::path& folder);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::map<std::string, SharedTensor>& initializers() const { return initializers_; }
  const std::vector<ModelInput>& inputs() const { return inputs_; }  // those that are no initializers
  const std::vector<std::string>& outputs() const { return outputs_; }

  // The nodes of a subgraph of `node`, the names of its values preceded by `prefix`; `inputs` are the names that its
  // inputs stand for. `outputs` receives the names of its outputs, `initializers` its tensors.
  std::vector<Node> subgraph(const Node& node, const ::onnx::GraphProto& graph, const std::string& prefix,
                             const Names& inputs, std::vector<std::string>& outputs,
                             std::map<std::string, SharedTensor>& initializers) const;

 private:
  void readOpsets();
  void readInputs(const ::onnx::GraphProto& graph);
  void addNodes(const ::onnx::GraphProto& graph, const std::shared_ptr<const Names>& names,
                std::vector<Node>& nodes) const;
  Node readNode(const ::onnx::NodeProto& proto, const std::shared_ptr<const Names>& names) const;

  std::unique_ptr<::onnx::ModelProto> proto_;
  std::filesystem::path folder_;
  std::map<std::string, int64_t> opsets_;
  std::vector<Node> nodes_;
  std::map<std::string, SharedTensor> initializers_;
  std::vector<ModelInput> inputs_;
  std::vector<std::string> outputs_;
};

// Throws ModelError. `folder` is where external data may lie; empty: nowhere.
HostTensor readTensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder);

// The nodes so that every one follows those that it reads. `known`: what none of them needs to make. Throws ModelError.
std::vector<Node> sortNodes(std::vector<Node> nodes, const std::set<std::string>& known);

}  // namespace dimple::onnx
