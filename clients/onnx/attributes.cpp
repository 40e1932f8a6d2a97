#include "clients/onnx/attributes.h"

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

// Returns the type's name in ONNX.
const char* kindText(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::Integer:
      return "INT";
    case AttributeKind::Integers:
      return "INTS";
    case AttributeKind::Real:
      return "FLOAT";
    case AttributeKind::Reals:
      return "FLOATS";
    case AttributeKind::Text:
      return "STRING";
    case AttributeKind::Texts:
      return "STRINGS";
    case AttributeKind::Tensor:
      return "TENSOR";
    case AttributeKind::Graph:
      return "GRAPH";
    case AttributeKind::Undefined:
      break;
  }
  return "UNDEFINED";
}

}  // namespace

const Attribute* Attributes::find(const std::string& name) const {
  if (!node_) return nullptr;
  for (const Attribute& attribute : node_->attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

const Attribute* Attributes::find(const std::string& name, AttributeKind kind) const {
  const Attribute* attribute = find(name);
  if (!attribute || attribute->kind == kind) return attribute;
  const bool named = attribute->kind == AttributeKind::Undefined && !attribute->text.empty();
  throw ModelError(cat("Attribute ", name, " is of kind ", named ? attribute->text : kindText(attribute->kind),
                       ", expected ", kindText(kind), "."));
}

int64_t Attributes::integer(const std::string& name, int64_t absent) const {
  const Attribute* attribute = find(name, AttributeKind::Integer);
  return attribute ? attribute->integer : absent;
}

float Attributes::real(const std::string& name, float absent) const {
  const Attribute* attribute = find(name, AttributeKind::Real);
  return attribute ? attribute->real : absent;
}

std::string Attributes::text(const std::string& name, const std::string& absent) const {
  const Attribute* attribute = find(name, AttributeKind::Text);
  return attribute ? attribute->text : absent;
}

std::optional<std::vector<int64_t>> Attributes::integers(const std::string& name) const {
  const Attribute* attribute = find(name, AttributeKind::Integers);
  if (!attribute) return {};
  return attribute->integers;
}

std::vector<float> Attributes::reals(const std::string& name) const {
  const Attribute* attribute = find(name, AttributeKind::Reals);
  return attribute ? attribute->reals : std::vector<float>();
}

std::vector<std::string> Attributes::texts(const std::string& name) const {
  const Attribute* attribute = find(name, AttributeKind::Texts);
  return attribute ? attribute->texts : std::vector<std::string>();
}

SharedTensor Attributes::tensor(const std::string& name) const {
  const Attribute* attribute = find(name, AttributeKind::Tensor);
  if (!attribute) return nullptr;
  if (!attribute->tensor) throw ModelError(attribute->text);
  return attribute->tensor;
}

const GraphDescription* Attributes::graph(const std::string& name) const {
  const Attribute* attribute = find(name, AttributeKind::Graph);
  if (!attribute) return nullptr;
  if (!attribute->graph) throw ModelError(attribute->text);
  return attribute->graph.get();
}

}  // namespace dimple::onnx
