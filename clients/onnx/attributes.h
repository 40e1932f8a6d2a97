// What a node says beside its inputs. Every function throws ModelError if an attribute is of another kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clients/onnx/model.h"

namespace dimple::onnx {

class Attributes {
 public:
  explicit Attributes(const Node& node) : node_(node.description.get()) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }
  int64_t integer(const std::string& name, int64_t absent) const;
  bool flag(const std::string& name, bool absent = false) const { return integer(name, absent) != 0; }
  float real(const std::string& name, float absent) const;
  std::string text(const std::string& name, const std::string& absent) const;
  std::optional<std::vector<int64_t>> integers(const std::string& name) const;
  std::vector<float> reals(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  // Null: absent. Throw also what keeps it from being read.
  SharedTensor tensor(const std::string& name) const;
  const GraphDescription* graph(const std::string& name) const;

 private:
  const Attribute* find(const std::string& name) const;
  const Attribute* find(const std::string& name, AttributeKind kind) const;

  const NodeDescription* node_;
};

}  // namespace dimple::onnx
