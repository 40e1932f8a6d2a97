#include "clients/onnx/model_proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <fstream>
#include <limits>

#include "clients/file_reason.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

std::string normalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

::onnx::ModelProto parseProto(google::protobuf::io::ZeroCopyInputStream& stream, const std::string& what) {
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  ::onnx::ModelProto proto;
  if (!proto.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    throw ModelError(cat(what, " is not an ONNX model, or it was cut off."));
  return proto;
}

GraphDescription describeGraph(const ::onnx::GraphProto& graph, const std::filesystem::path& folder);

Attribute describeAttribute(const ::onnx::AttributeProto& proto, const std::filesystem::path& folder) {
  using Proto = ::onnx::AttributeProto;
  Attribute attribute;
  attribute.name = proto.name();
  const auto holds = [&](AttributeKind kind, auto& field, auto&& value) {
    attribute.kind = kind;
    field = std::forward<decltype(value)>(value);
  };
  const auto elements = [](const auto& field) {
    return std::vector<typename std::decay_t<decltype(field)>::value_type>(field.begin(), field.end());
  };
  try {
    switch (proto.type()) {
      case Proto::INT:
        holds(AttributeKind::Integer, attribute.integer, proto.i());
        break;
      case Proto::INTS:
        holds(AttributeKind::Integers, attribute.integers, elements(proto.ints()));
        break;
      case Proto::FLOAT:
        holds(AttributeKind::Real, attribute.real, proto.f());
        break;
      case Proto::FLOATS:
        holds(AttributeKind::Reals, attribute.reals, elements(proto.floats()));
        break;
      case Proto::STRING:
        holds(AttributeKind::Text, attribute.text, proto.s());
        break;
      case Proto::STRINGS:
        holds(AttributeKind::Texts, attribute.texts, elements(proto.strings()));
        break;
      case Proto::TENSOR:  // with its data in the message
        attribute.kind = AttributeKind::Tensor;
        attribute.tensor = std::make_shared<const HostTensor>(readTensor(proto.t(), {}));
        break;
      case Proto::GRAPH:
        attribute.kind = AttributeKind::Graph;
        attribute.graph = std::make_shared<const GraphDescription>(describeGraph(proto.g(), folder));
        break;
      default:
        attribute.text = Proto::AttributeType_Name(proto.type());
    }
  } catch (const ModelError& error) {
    attribute.text = error.what();
  }
  return attribute;
}

std::shared_ptr<const NodeDescription> describeNode(const ::onnx::NodeProto& proto,
                                                    const std::filesystem::path& folder) {
  NodeDescription node;
  node.name = proto.name();
  node.opType = proto.op_type();
  node.domain = normalDomain(proto.domain());
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute()) node.attributes.push_back(describeAttribute(attribute, folder));
  return std::make_shared<const NodeDescription>(std::move(node));
}

ModelInput describeInput(const ::onnx::ValueInfoProto& info) {
  const auto& tensor = info.type().tensor_type();
  ModelInput input{info.name(), static_cast<Type>(tensor.elem_type()), {}};
  if (tensor.has_shape()) {
    input.dimensions.emplace();
    for (const auto& dimension : tensor.shape().dim())
      input.dimensions->push_back(
          {dimension.has_dim_value() ? dimension.dim_value() : int64_t{-1}, dimension.dim_param()});
  }
  return input;
}

GraphDescription describeGraph(const ::onnx::GraphProto& graph, const std::filesystem::path& folder) {
  GraphDescription description;
  for (const auto& tensor : graph.initializer())
    description.initializers[tensor.name()] = std::make_shared<const HostTensor>(readTensor(tensor, folder));
  for (const auto& info : graph.input()) description.inputs.push_back(describeInput(info));
  for (const auto& node : graph.node()) description.nodes.push_back(describeNode(node, folder));
  for (const auto& output : graph.output()) description.outputs.push_back(output.name());
  return description;
}

}  // namespace

ModelDescription describe(const ::onnx::ModelProto& proto, const std::filesystem::path& folder) {
  if (!proto.has_graph()) throw ModelError("The model has no graph.");
  const ::onnx::GraphProto& graph = proto.graph();
  ModelDescription model;
  for (const auto& import : proto.opset_import()) model.opsets[normalDomain(import.domain())] = import.version();
  model.graph = describeGraph(graph, folder);
  if (graph.sparse_initializer_size() != 0)
    throw ModelError("The model has sparse initializers, which are not supported.");
  for (const auto& info : graph.input())
    if (!info.name().empty() && !model.graph.initializers.contains(info.name()) && !info.type().has_tensor_type())
      throw ModelError(cat("Input \"", info.name(), "\" is not a tensor, which is not supported."));
  return model;
}

Model readModel(const std::filesystem::path& path) {
  if (const std::string reason = whyUnreadable(path); !reason.empty())
    throw ModelError(cat(path.string(), " cannot be read: ", reason, "."));
  std::ifstream in(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&in);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return Model(describe(parseProto(stream, path.string()), folder));
}

Model parseModel(std::string_view bytes, const std::filesystem::path& folder) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    throw ModelError(cat("The model has ", bytes.size(), " bytes, expected less than 2^31."));
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return Model(describe(parseProto(stream, "The model"), folder));
}

}  // namespace dimple::onnx
