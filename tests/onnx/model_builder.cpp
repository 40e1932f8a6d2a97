#include "tests/onnx/model_builder.h"

namespace dimple::testing {

using onnx::HostTensor;
using onnx::Type;

void setTensor(::onnx::TensorProto& proto, const std::string& name, const HostTensor& tensor) {
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(tensor.type));
  for (const int64_t size : tensor.sizes) proto.add_dims(size);
  std::string bytes;
  if (tensor.type == Type::Int4 || tensor.type == Type::UInt4) {
    for (size_t i = 0; i < tensor.bytes.size(); i += 2) {
      const int64_t second = i + 1 < tensor.bytes.size() ? tensor.integer(i + 1) : 0;
      bytes += static_cast<char>((tensor.integer(i) & 15) | (second & 15) << 4);
    }
  } else {
    bytes.assign(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  proto.set_raw_data(bytes);
}

HostTensor floats(onnx::Sizes sizes, const std::vector<double>& values) {
  HostTensor tensor(Type::Float, std::move(sizes));
  for (size_t i = 0; i < values.size(); ++i) tensor.setReal(i, values[i]);
  return tensor;
}

HostTensor integers(const std::vector<int64_t>& values) { return onnx::integerTensor(Type::Int64, values); }

void GraphMaker::input(const std::string& name, Type type, const std::vector<int64_t>& sizes) {
  auto* info = graph_.add_input();
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type));
  for (const int64_t size : sizes) {
    auto* dimension = tensor->mutable_shape()->add_dim();
    if (size < 0)
      dimension->set_dim_param("N");
    else
      dimension->set_dim_value(size);
  }
}

void GraphMaker::initializer(const std::string& name, const HostTensor& tensor) {
  setTensor(*graph_.add_initializer(), name, tensor);
}

::onnx::NodeProto& GraphMaker::node(const std::string& opType, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs) {
  auto& node = *graph_.add_node();
  node.set_op_type(opType);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

void setAttribute(::onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void setAttribute(::onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
}

void addContextNode(ModelMaker& maker, const std::string& input, const std::string& output, const std::string& source) {
  auto& operators = *maker.proto().add_opset_import();
  operators.set_domain("com.microsoft");
  operators.set_version(1);
  auto& node = maker.node("EPContext", {input}, {output});
  node.set_domain(operators.domain());
  auto& attribute = *node.add_attribute();
  attribute.set_name("source");
  attribute.set_type(::onnx::AttributeProto::STRING);
  attribute.set_s(source);
  maker.output(output);
  // No inference gives it.
  auto& type = *maker.proto().mutable_graph()->mutable_output()->rbegin()->mutable_type();
  type.mutable_tensor_type()->set_elem_type(::onnx::TensorProto::FLOAT);
}

::onnx::GraphProto& addGraph(::onnx::NodeProto& node, const std::string& name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  return *attribute.mutable_g();
}

}  // namespace dimple::testing
