// What a node says beside its inputs. Every function throws ModelError if an attribute is of another kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clients/onnx/model.h"

namespace dimple::onnx {

class Attributes {
 public:
  explicit Attributes(const Node& node) : proto_(node.proto) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }
  int64_t integer(const std::string& name, int64_t absent) const;
  bool flag(const std::string& name, bool absent = false) const { return integer(name, absent) != 0; }
  float real(const std::string& name, float absent) const;
  std::string text(const std::string& name, const std::string& absent) const;
  std::optional<std::vector<int64_t>> integers(const std::string& name) const;
  std::vector<float> reals(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  const ::onnx::TensorProto* tensor(const std::string& name) const;  // null: absent
  const ::onnx::GraphProto* graph(const std::string& name) const;

 private:
  const ::onnx::AttributeProto* find(const std::string& name) const;
  const ::onnx::AttributeProto* find(const std::string& name, ::onnx::AttributeProto::AttributeType type) const;

  const ::onnx::NodeProto* proto_;
};

}  // namespace dimple::onnx
