#include "clients/onnx/attributes.h"

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {

using Kind = ::onnx::AttributeProto;

const Kind* Attributes::find(const std::string& name) const {
  if (!proto_) return nullptr;
  for (const auto& attribute : proto_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const Kind* Attributes::find(const std::string& name, Kind::AttributeType type) const {
  const Kind* attribute = find(name);
  if (attribute && attribute->type() != type)
    throw ModelError(cat("Attribute ", name, " is of kind ", Kind::AttributeType_Name(attribute->type()), ", expected ",
                         Kind::AttributeType_Name(type), "."));
  return attribute;
}

int64_t Attributes::integer(const std::string& name, int64_t absent) const {
  const Kind* attribute = find(name, Kind::INT);
  return attribute ? attribute->i() : absent;
}

float Attributes::real(const std::string& name, float absent) const {
  const Kind* attribute = find(name, Kind::FLOAT);
  return attribute ? attribute->f() : absent;
}

std::string Attributes::text(const std::string& name, const std::string& absent) const {
  const Kind* attribute = find(name, Kind::STRING);
  return attribute ? attribute->s() : absent;
}

std::optional<std::vector<int64_t>> Attributes::integers(const std::string& name) const {
  const Kind* attribute = find(name, Kind::INTS);
  if (!attribute) return {};
  return std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::vector<float> Attributes::reals(const std::string& name) const {
  const Kind* attribute = find(name, Kind::FLOATS);
  if (!attribute) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> Attributes::texts(const std::string& name) const {
  const Kind* attribute = find(name, Kind::STRINGS);
  if (!attribute) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

const ::onnx::TensorProto* Attributes::tensor(const std::string& name) const {
  const Kind* attribute = find(name, Kind::TENSOR);
  return attribute ? &attribute->t() : nullptr;
}

const ::onnx::GraphProto* Attributes::graph(const std::string& name) const {
  const Kind* attribute = find(name, Kind::GRAPH);
  return attribute ? &attribute->g() : nullptr;
}

}  // namespace dimple::onnx
