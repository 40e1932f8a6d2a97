#include "clients/onnxruntime/graph_reader.h"

#include <algorithm>

#include "clients/onnx/failure.h"
#include "clients/onnx/model.h"
#include "clients/onnx/text.h"
#include "clients/onnxruntime/elements.h"
#include "clients/onnxruntime/memory.h"

namespace dimple::ort {

using onnx::cat;

namespace {

using onnx::Attribute;
using onnx::AttributeKind;
using onnx::GraphDescription;
using onnx::NodeDescription;

std::vector<const OrtValueInfo*> subgraphInputs(const OrtGraph& graph) {
  return listOf<const OrtValueInfo*>(runtime().api->Graph_GetNumInputs, runtime().api->Graph_GetInputs, &graph);
}

std::vector<const OrtValueInfo*> subgraphOutputs(const OrtGraph& graph) {
  return listOf<const OrtValueInfo*>(runtime().api->Graph_GetNumOutputs, runtime().api->Graph_GetOutputs, &graph);
}

// The bytes of an attribute; the first call of ReadOpAttr fails and says how many.
template <class T>
std::vector<T> readArray(const OrtOpAttr& attribute, OrtOpAttrType type) {
  const OrtApi& api = *runtime().api;
  size_t bytes = 0;
  if (OrtStatus* status = api.ReadOpAttr(&attribute, type, nullptr, 0, &bytes)) api.ReleaseStatus(status);
  std::vector<T> values(bytes / sizeof(T));
  if (bytes) check(api.ReadOpAttr(&attribute, type, values.data(), bytes, &bytes));
  return values;
}

std::string readText(const OrtOpAttr& attribute) {
  const auto bytes = readArray<char>(attribute, ORT_OP_ATTR_STRING);
  return {bytes.begin(), bytes.end()};
}

class Reader {
 public:
  explicit Reader(const ReadOptions& options) : options_(options) {}

  std::shared_ptr<const NodeDescription> node(const OrtNode& node) {
    const OrtApi& api = *runtime().api;
    auto description = std::make_shared<NodeDescription>();
    const auto text = [&](auto get) {
      const char* value = nullptr;
      check(get(&node, &value));
      return std::string(value ? value : "");
    };
    description->name = text(api.Node_GetName);
    description->opType = text(api.Node_GetOperatorType);
    description->domain = text(api.Node_GetDomain);
    if (description->domain == "ai.onnx") description->domain.clear();
    for (const OrtValueInfo* input : inputsOf(node)) {
      description->inputs.push_back(input ? nameOf(*input) : "");
      if (input) addConstant(*input);
    }
    for (const OrtValueInfo* output : outputsOf(node)) description->outputs.push_back(output ? nameOf(*output) : "");
    for (const OrtOpAttr* attribute :
         listOf<const OrtOpAttr*>(api.Node_GetNumAttributes, api.Node_GetAttributes, &node))
      description->attributes.push_back(read(*attribute));
    addSubgraphs(node, *description);
    return description;
  }

  std::map<std::string, onnx::SharedTensor> takeConstants() { return std::move(constants_); }

 private:
  // Constants of outer scopes are known by their names there.
  void addConstant(const OrtValueInfo& value) {
    std::string name = nameOf(value);
    if (constants_.contains(name) || !isConstant(value)) return;
    const OrtValue* tensor = nullptr;
    check(runtime().api->ValueInfo_GetInitializerValue(&value, &tensor));
    // Those of other types have no bytes, and no node that reads one is taken.
    if (!tensor || onnx::traits(describeValue(value).type).hostBytes == 0) return;
    size_t bytes = 0;
    check(runtime().api->GetTensorSizeInBytes(tensor, &bytes));
    if (bytes <= options_.maxConstantBytes) constants_.emplace(std::move(name), readTensor(*tensor));
  }

  Attribute read(const OrtOpAttr& attribute) const {
    const OrtApi& api = *runtime().api;
    Attribute result;
    const char* name = nullptr;
    check(api.OpAttr_GetName(&attribute, &name));
    result.name = name;
    OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
    check(api.OpAttr_GetType(&attribute, &type));
    const auto one = [&](auto& value) {
      size_t bytes = 0;
      check(api.ReadOpAttr(&attribute, type, &value, sizeof value, &bytes));
    };
    switch (type) {
      case ORT_OP_ATTR_INT:
        result.kind = AttributeKind::Integer;
        one(result.integer);
        break;
      case ORT_OP_ATTR_FLOAT:
        result.kind = AttributeKind::Real;
        one(result.real);
        break;
      case ORT_OP_ATTR_INTS:
        result.kind = AttributeKind::Integers;
        result.integers = readArray<int64_t>(attribute, type);
        break;
      case ORT_OP_ATTR_FLOATS:
        result.kind = AttributeKind::Reals;
        result.reals = readArray<float>(attribute, type);
        break;
      case ORT_OP_ATTR_STRING:
        result.kind = AttributeKind::Text;
        result.text = readText(attribute);
        break;
      case ORT_OP_ATTR_STRINGS: {
        result.kind = AttributeKind::Texts;
        const auto bytes = readArray<char>(attribute, type);
        for (size_t at = 0; at < bytes.size(); at += result.texts.back().size() + 1)
          result.texts.emplace_back(bytes.data() + at);
        break;
      }
      case ORT_OP_ATTR_TENSOR:
        result.kind = AttributeKind::Tensor;
        readTensorOf(attribute, result);
        break;
      case ORT_OP_ATTR_GRAPH:
        result.kind = AttributeKind::Graph;
        break;
      default:
        result.text = cat("type ", static_cast<int>(type));
        break;
    }
    return result;
  }

  static void readTensorOf(const OrtOpAttr& attribute, Attribute& result) {
    OrtValue* value = nullptr;
    check(runtime().api->OpAttr_GetTensorAttributeAsOrtValue(&attribute, &value));
    try {
      if (value) result.tensor = readTensor(*value);
    } catch (const onnx::ModelError& error) {
      result.text = error.what();
    }
    if (value) runtime().api->ReleaseValue(value);
  }

  void addSubgraphs(const OrtNode& node, NodeDescription& description) {
    const OrtApi& api = *runtime().api;
    size_t count = 0;
    check(api.Node_GetNumSubgraphs(&node, &count));
    if (count == 0) return;
    std::vector<const OrtGraph*> graphs(count);
    std::vector<const char*> names(count);
    check(api.Node_GetSubgraphs(&node, graphs.data(), count, names.data()));
    for (size_t i = 0; i < count; ++i) {
      auto graph = std::make_shared<GraphDescription>();
      for (const OrtNode* inner : nodesOf(*graphs[i])) graph->nodes.push_back(this->node(*inner));
      for (const OrtValueInfo* input : subgraphInputs(*graphs[i])) graph->inputs.push_back(describeValue(*input));
      for (const OrtValueInfo* output : subgraphOutputs(*graphs[i])) {
        graph->outputs.push_back(nameOf(*output));
        addConstant(*output);
      }
      bool given = false;
      for (Attribute& attribute : description.attributes)
        if (attribute.name == names[i]) {
          attribute.graph = graph;
          given = true;
        }
      if (!given) {
        Attribute& attribute = description.attributes.emplace_back();
        attribute.name = names[i];
        attribute.kind = AttributeKind::Graph;
        attribute.graph = graph;
      }
    }
  }

  const ReadOptions options_;
  std::map<std::string, onnx::SharedTensor> constants_;
};

}  // namespace

std::string nameOf(const OrtNode& node) {
  const char* name = nullptr;
  check(runtime().api->Node_GetName(&node, &name));
  return name;
}

std::string nameOf(const OrtValueInfo& value) {
  const char* name = nullptr;
  check(runtime().api->GetValueInfoName(&value, &name));
  return name;
}

bool isConstant(const OrtValueInfo& value) {
  bool is = false;
  check(runtime().api->ValueInfo_IsConstantInitializer(&value, &is));
  return is;
}

onnx::ModelInput describeValue(const OrtValueInfo& value) {
  const OrtApi& api = *runtime().api;
  onnx::ModelInput result;
  result.name = nameOf(value);
  const OrtTypeInfo* info = nullptr;
  check(api.GetValueInfoTypeInfo(&value, &info));
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  if (info) check(api.GetOnnxTypeFromTypeInfo(info, &kind));
  if (kind != ONNX_TYPE_TENSOR) return result;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  check(api.CastTypeInfoToTensorInfo(info, &tensor));
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api.GetTensorElementType(tensor, &type));
  result.type = static_cast<onnx::Type>(type);
  if (!api.TensorTypeAndShape_HasShape(tensor)) return result;
  size_t rank = 0;
  check(api.GetDimensionsCount(tensor, &rank));
  std::vector<int64_t> sizes(rank);
  check(api.GetDimensions(tensor, sizes.data(), rank));
  result.dimensions.emplace();
  for (const int64_t size : sizes) result.dimensions->push_back({size, {}});
  return result;
}

onnx::TensorInfo describeTensor(const OrtValue& value) {
  const OrtApi& api = *runtime().api;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(api.GetTensorTypeAndShape(&value, &info));
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(api.ReleaseTensorTypeAndShapeInfo)> owner(
      info, api.ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api.GetTensorElementType(info, &type));
  size_t rank = 0;
  check(api.GetDimensionsCount(info, &rank));
  onnx::TensorInfo result{static_cast<onnx::Type>(type), onnx::Sizes(rank)};
  check(api.GetDimensions(info, result.sizes.data(), rank));
  return result;
}

onnx::SharedTensor readTensor(const OrtValue& value) {
  onnx::TensorInfo info = describeTensor(value);
  const TensorMemory memory = memoryOf(value);
  return hostTensor(info.type, std::move(info.sizes), {static_cast<const std::byte*>(memory.data), memory.bytes});
}

bool isTooNew(const OrtNode& node) {
  const OrtApi& api = *runtime().api;
  const char* domain = nullptr;
  int since = 0;
  check(api.Node_GetDomain(&node, &domain));
  check(api.Node_GetSinceVersion(&node, &since));
  if (std::string_view(domain).empty() && since > onnx::kNewestOpset) return true;
  return std::ranges::any_of(subgraphsOf(node), [](const OrtGraph* graph) {
    return std::ranges::any_of(nodesOf(*graph), [](const OrtNode* inner) { return isTooNew(*inner); });
  });
}

std::vector<const OrtValueInfo*> inputsOf(const OrtNode& node) {
  return listOf<const OrtValueInfo*>(runtime().api->Node_GetNumInputs, runtime().api->Node_GetInputs, &node);
}

std::vector<const OrtValueInfo*> outputsOf(const OrtNode& node) {
  return listOf<const OrtValueInfo*>(runtime().api->Node_GetNumOutputs, runtime().api->Node_GetOutputs, &node);
}

std::vector<const OrtNode*> nodesOf(const OrtGraph& graph) {
  return listOf<const OrtNode*>(runtime().api->Graph_GetNumNodes, runtime().api->Graph_GetNodes, &graph);
}

std::vector<const OrtGraph*> subgraphsOf(const OrtNode& node) {
  const auto get = [](const OrtNode* from, const OrtGraph** graphs, size_t count) {
    return runtime().api->Node_GetSubgraphs(from, graphs, count, nullptr);
  };
  return listOf<const OrtGraph*>(runtime().api->Node_GetNumSubgraphs, get, &node);
}

onnx::ModelDescription describeNodes(const OrtGraph& graph, std::span<const OrtNode* const> nodes,
                                     const ReadOptions& options) {
  const OrtApi& api = *runtime().api;
  onnx::ModelDescription model;
  size_t count = 0;
  check(api.Graph_GetNumOperatorSets(&graph, &count));
  std::vector<const char*> domains(count);
  std::vector<int64_t> versions(count);
  if (count) check(api.Graph_GetOperatorSets(&graph, domains.data(), versions.data(), count));
  for (size_t i = 0; i < count; ++i) {
    const std::string domain = domains[i];
    const bool standard = domain.empty() || domain == "ai.onnx";
    model.opsets[standard ? "" : domain] = standard ? std::min(versions[i], onnx::kNewestOpset) : versions[i];
  }
  Reader reader(options);
  for (const OrtNode* node : nodes) model.graph.nodes.push_back(reader.node(*node));
  model.graph.initializers = reader.takeConstants();
  return model;
}

}  // namespace dimple::ort
