// What a model says, whoever read it: nothing here is a file format's or a library's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/onnx/tensor.h"

namespace dimple::onnx {

struct GraphDescription;

// Undefined: of a kind that no operator here has.
enum class AttributeKind : uint8_t { Undefined, Integer, Integers, Real, Reals, Text, Texts, Tensor, Graph };

// The field of its kind holds the value.
struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::Undefined;
  int64_t integer = 0;
  float real = 0;
  // Also of Undefined: the kind's name as ONNX has it ("SPARSE_TENSOR"); of a Tensor or Graph that is null: a sentence
  // that says why it cannot be read, which whoever asks for it gets.
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  SharedTensor tensor;
  std::shared_ptr<const GraphDescription> graph;
};

// Does not change, and is shared by all copies of a Node.
struct NodeDescription {
  std::string name;
  std::string opType;
  std::string domain;                // "" is ai.onnx
  std::vector<std::string> inputs;   // "": absent
  std::vector<std::string> outputs;  // "": not wanted
  std::vector<Attribute> attributes;
};

// A dimension that is not known before inputs are given has size -1, and a name if the model names it.
struct Dimension {
  int64_t size = -1;
  std::string name;
};

struct ModelInput {
  std::string name;
  Type type = Type::Undefined;
  std::optional<std::vector<Dimension>> dimensions;  // absent: of any rank
};

struct GraphDescription {
  std::vector<std::shared_ptr<const NodeDescription>> nodes;  // in any order
  std::map<std::string, SharedTensor> initializers;
  std::vector<ModelInput> inputs;  // may be initializers, too; of a subgraph only their names matter
  std::vector<std::string> outputs;
};

struct ModelDescription {
  std::map<std::string, int64_t> opsets;  // by domain; "" is ai.onnx
  GraphDescription graph;
};

}  // namespace dimple::onnx
