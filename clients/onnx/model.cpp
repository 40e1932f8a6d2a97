#include "clients/onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <fstream>
#include <limits>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"

namespace dimple::onnx {
namespace {

constexpr int64_t kOldestOpset = 1;
constexpr int64_t kNewestOpset = 24;

std::string normalDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::unique_ptr<::onnx::ModelProto> parseProto(google::protobuf::io::ZeroCopyInputStream& stream,
                                               const std::string& what) {
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  auto proto = std::make_unique<::onnx::ModelProto>();
  if (!proto->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    throw ModelError(cat(what, " is no ONNX model, or was cut off."));
  return proto;
}

// How many elements NonZero finds is known only when it has run, so that it is two nodes: coordinates with room for all
// elements and their number, and what that number leaves of them.
void addNonZero(const Node& node, std::vector<Node>& nodes) {
  const std::string name = node.outputs.empty() ? "" : node.outputs[0];
  Node coordinates = node;
  coordinates.opType = "NonZeroCoordinates";
  coordinates.domain = kInternalDomain;
  coordinates.outputs = {name + "/coordinates", name + "/count"};
  Node prefix = node;
  prefix.opType = "NonZeroPrefix";
  prefix.domain = kInternalDomain;
  prefix.inputs = coordinates.outputs;
  nodes.push_back(std::move(coordinates));
  nodes.push_back(std::move(prefix));
}

}  // namespace

const std::string& renamed(const std::string& name, const Names* names) {
  if (!names || name.empty()) return name;
  const auto found = names->find(name);
  return found == names->end() ? name : found->second;
}

std::string Node::text() const {
  std::string name = proto ? proto->name() : "";
  if (name.empty())
    for (const std::string& output : outputs)
      if (!output.empty()) {
        name = output;
        break;
      }
  const std::string type = proto ? proto->op_type() : opType;
  return cat("node \"", name, "\" (", domain.empty() || domain == kInternalDomain ? "" : domain + ".", type, ")");
}

Model Model::load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ModelError(cat(path.string(), " cannot be read."));
  google::protobuf::io::IstreamInputStream stream(&in);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return {parseProto(stream, path.string()), folder};
}

Model Model::parse(std::string_view bytes, const std::filesystem::path& folder) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    throw ModelError(cat("The model has ", bytes.size(), " bytes, expected less than 2^31."));
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return {parseProto(stream, "The model"), folder};
}

Model::Model(std::unique_ptr<::onnx::ModelProto> proto, const std::filesystem::path& folder)
    : proto_(std::move(proto)), folder_(folder) {
  if (!proto_->has_graph()) throw ModelError("The model has no graph.");
  const ::onnx::GraphProto& graph = proto_->graph();
  readOpsets();
  for (const auto& tensor : graph.initializer())
    initializers_[tensor.name()] = std::make_shared<const HostTensor>(readTensor(tensor, folder_));
  if (graph.sparse_initializer_size() != 0)
    throw ModelError("The model has sparse initializers, which are not supported.");
  readInputs(graph);
  addNodes(graph, nullptr, nodes_);
  std::set<std::string> known;
  for (const auto& [name, tensor] : initializers_) known.insert(name);
  for (const ModelInput& input : inputs_) known.insert(input.name);
  nodes_ = sortNodes(std::move(nodes_), known);
  for (const Node& node : nodes_) known.insert(node.outputs.begin(), node.outputs.end());
  for (const auto& output : graph.output()) {
    if (output.name().empty()) throw ModelError("The model has an output without a name.");
    if (!known.contains(output.name()))
      throw ModelError(cat("The model has an output \"", output.name(), "\" that no node makes."));
    outputs_.push_back(output.name());
  }
  if (outputs_.empty()) throw ModelError("The model has no outputs.");
}

void Model::readOpsets() {
  for (const auto& import : proto_->opset_import()) opsets_[normalDomain(import.domain())] = import.version();
  if (opsets_.empty()) throw ModelError("The model imports no operator set.");
  const auto found = opsets_.find("");
  if (found != opsets_.end() && (found->second < kOldestOpset || found->second > kNewestOpset))
    throw ModelError(cat("The model imports ai.onnx of version ", found->second, ", expected ", kOldestOpset, " to ",
                         kNewestOpset, "."));
}

void Model::readInputs(const ::onnx::GraphProto& graph) {
  for (const auto& info : graph.input()) {
    if (info.name().empty()) throw ModelError("The model has an input without a name.");
    if (initializers_.contains(info.name())) continue;
    if (!info.type().has_tensor_type())
      throw ModelError(cat("Input \"", info.name(), "\" is no tensor, which is not supported."));
    const auto& tensor = info.type().tensor_type();
    ModelInput input{info.name(), static_cast<Type>(tensor.elem_type()), {}};
    if (tensor.has_shape()) {
      input.dimensions.emplace();
      for (const auto& dimension : tensor.shape().dim())
        input.dimensions->push_back(
            {dimension.has_dim_value() ? dimension.dim_value() : int64_t{-1}, dimension.dim_param()});
    }
    inputs_.push_back(std::move(input));
  }
}

Node Model::readNode(const ::onnx::NodeProto& proto, const std::shared_ptr<const Names>& names) const {
  Node node;
  node.opType = proto.op_type();
  node.domain = normalDomain(proto.domain());
  node.proto = &proto;
  node.names = names;
  for (const auto& input : proto.input()) node.inputs.push_back(renamed(input, names.get()));
  for (const auto& output : proto.output()) node.outputs.push_back(renamed(output, names.get()));
  const auto found = opsets_.find(node.domain);
  if (found == opsets_.end())
    throw ModelError(cat("A ", node.text(), " is of a domain that the model does not import."));
  node.opset = found->second;
  return node;
}

void Model::addNodes(const ::onnx::GraphProto& graph, const std::shared_ptr<const Names>& names,
                     std::vector<Node>& nodes) const {
  for (const auto& proto : graph.node()) {
    Node node = readNode(proto, names);
    if (node.opType == "NonZero" && node.domain.empty())
      addNonZero(node, nodes);
    else
      nodes.push_back(std::move(node));
  }
}

std::vector<Node> Model::subgraph(const Node& node, const ::onnx::GraphProto& graph, const std::string& prefix,
                                  const Names& inputs, std::vector<std::string>& outputs,
                                  std::map<std::string, SharedTensor>& initializers) const {
  auto names = std::make_shared<Names>(node.names ? *node.names : Names());
  for (const auto& [inner, outer] : inputs) (*names)[inner] = outer;
  for (const auto& tensor : graph.initializer()) {
    (*names)[tensor.name()] = prefix + tensor.name();
    initializers[prefix + tensor.name()] = std::make_shared<const HostTensor>(readTensor(tensor, folder_));
  }
  for (const auto& inner : graph.node())
    for (const auto& output : inner.output())
      if (!output.empty()) (*names)[output] = prefix + output;
  std::vector<Node> nodes;
  addNodes(graph, names, nodes);
  outputs.clear();
  for (const auto& output : graph.output()) outputs.push_back(renamed(output.name(), names.get()));
  std::set<std::string> known;
  std::set<std::string> made;
  for (const Node& inner : nodes) made.insert(inner.outputs.begin(), inner.outputs.end());
  for (const Node& inner : nodes)
    for (const auto& input : inner.inputs)
      if (!made.contains(input)) known.insert(input);
  return sortNodes(std::move(nodes), known);
}

std::vector<Node> sortNodes(std::vector<Node> nodes, const std::set<std::string>& known) {
  std::map<std::string, size_t> maker;
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const auto& output : nodes[n].outputs)
      if (!output.empty() && (known.contains(output) || !maker.emplace(output, n).second))
        throw ModelError(cat("\"", output, "\" is made by ", nodes[n].text(), " and elsewhere."));
  std::vector<size_t> missing(nodes.size());
  std::vector<std::vector<size_t>> readers(nodes.size());
  std::set<size_t> ready;  // in the model's order, where that is possible
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const auto& input : nodes[n].inputs) {
      if (input.empty() || known.contains(input)) continue;
      const auto found = maker.find(input);
      if (found == maker.end())
        throw ModelError(cat("The ", nodes[n].text(), " reads \"", input, "\", which nothing makes."));
      readers[found->second].push_back(n);
      ++missing[n];
    }
    if (missing[n] == 0) ready.insert(n);
  }
  std::vector<Node> sorted;
  while (!ready.empty()) {
    const size_t n = *ready.begin();
    ready.erase(ready.begin());
    for (const size_t reader : readers[n])
      if (--missing[reader] == 0) ready.insert(reader);
    sorted.push_back(std::move(nodes[n]));
  }
  if (sorted.size() != nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n)
      if (missing[n] != 0) throw ModelError(cat("The ", nodes[n].text(), " needs what is made of its own outputs."));
  }
  return sorted;
}

}  // namespace dimple::onnx
