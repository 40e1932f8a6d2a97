// How nodes become DirectML operators: a family of ONNX operators is a file map_*.cpp with a table of functions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clients/onnx/attributes.h"
#include "clients/onnx/graph.h"
#include "clients/onnx/model.h"

namespace dimple::onnx {

// What of an input's values decides how a node is mapped. Throws ModelError.
using Question = std::function<int64_t(const HostTensor&)>;

// Where a node is mapped.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Whether a value is an output of the model.
  virtual bool isResult(const std::string& name) const = 0;
  // What is answered of a value that is given when the graph runs; nothing: it is not. Where the answer is another in a
  // later run, the node is mapped again.
  virtual std::optional<int64_t> ask(const std::string& name, const Question& question) = 0;
};

// A node that is being mapped.
class NodeContext {
 public:
  // `values` holds what the inputs stand for. Without surroundings, nothing is a result. Throws ModelError if an input
  // has no value.
  NodeContext(const Node& node, const std::map<std::string, Value>& values, GraphBuilder& graph,
              Surroundings* surroundings = nullptr);

  GraphBuilder& graph() const { return graph_; }
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return attributes_; }
  int64_t opset() const { return node_.opset; }

  size_t inputCount() const { return inputs_.size(); }
  bool has(size_t index) const { return index < inputs_.size() && inputs_[index]; }
  // Throws ModelError if it is absent.
  const Value& input(size_t index) const;
  std::optional<Value> optional(size_t index) const {
    return has(index) ? std::optional(*inputs_[index]) : std::nullopt;
  }
  // Whether the value of an input is known, as it is of an absent one. Where it is not, a graph has to compute it
  // first: the mapping returns, and the node is mapped again.
  bool knows(size_t index);
  // The same for integers().
  bool knows(const std::string& attribute, size_t input);
  // What is answered of an input's values, which are known like those of knows() or given. Nothing: they are not.
  std::optional<int64_t> ask(size_t index, const Question& question);
  // The first input that was found not to be known; null: none was.
  const std::string* unknown() const { return unknown_; }
  // The value of an input that the mapping knows.
  const HostTensor& constant(size_t index) const;
  // That of an input of one element.
  const HostTensor& scalarConstant(size_t index) const;
  // The same as a list, from an attribute in old operator sets and an input in newer ones; nothing: absent.
  std::optional<std::vector<int64_t>> integers(const std::string& attribute, size_t input) const;

  size_t outputCount() const { return node_.outputs.size(); }
  bool wants(size_t index) const { return index < node_.outputs.size() && !node_.outputs[index].empty(); }
  // Whether the output is one of the model.
  bool isResult(size_t index) const;
  void setOutput(size_t index, Value value);
  const std::map<std::string, Value>& outputs() const { return outputs_; }

 private:
  const Node& node_;
  GraphBuilder& graph_;
  const Attributes attributes_;
  std::vector<const Value*> inputs_;
  Surroundings* const surroundings_;  // null: there are none
  const std::string* unknown_ = nullptr;
  std::map<std::string, Value> outputs_;
};

using Mapper = void (*)(NodeContext&);

struct Mapping {
  const char* domain;
  const char* opType;
  int64_t since;  // the first operator set with this meaning
  Mapper map;
};

inline constexpr const char* kOnnx = "";

// The tables of the families.
std::span<const Mapping> activationMappings();
std::span<const Mapping> attentionMappings();
std::span<const Mapping> convolutionMappings();
std::span<const Mapping> einsumMappings();
std::span<const Mapping> elementwiseMappings();
std::span<const Mapping> generatorMappings();
std::span<const Mapping> groupedAttentionMappings();
std::span<const Mapping> indexingMappings();
std::span<const Mapping> matrixMappings();
std::span<const Mapping> movementMappings();
std::span<const Mapping> multiHeadMappings();
std::span<const Mapping> normalizationMappings();
std::span<const Mapping> poolingMappings();
std::span<const Mapping> quantizationMappings();
std::span<const Mapping> recurrentMappings();
std::span<const Mapping> reductionMappings();
std::span<const Mapping> resizeMappings();
std::span<const Mapping> viewMappings();
std::span<const Mapping> weightMappings();

// The mapping for a node's operator set; null: there is none.
const Mapping* findMapping(const Node& node);
// Whether a model may have such a node: it is mapped itself, or stands for nodes that are.
bool canRun(const Node& node);
// "Abs" and "com.microsoft.Gelu", once each and sorted.
std::vector<std::string> mappedOperators();

// Of a constant that is computed with before anything runs.
inline constexpr int64_t kMaxFoldedElements = 4096;
// Computes a node whose inputs are such constants. False: it is left to the device.
bool foldNode(NodeContext& node);
// Whether that is possible for some inputs.
bool isFoldable(const NodeDescription& node);

}  // namespace dimple::onnx
