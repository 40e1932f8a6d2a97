// Reads whatever model the bytes are, plans it for inputs of the sizes that it asks for, and runs it on a device that
// executes nothing. Models that are refused must say why in a sentence.
//
// Half of the changes are of models: another operator, operator set, attribute, size, type, input or name in the place
// of one; the others of bytes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "clients/onnx/failure.h"
#include "clients/onnx/mapper.h"
#include "clients/onnx/model_proto.h"
#include "clients/onnx/reader.h"
#include "clients/onnx/session.h"
#include "tests/fuzz/bounded_memory.h"
#include "tests/null/null_context.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;

constexpr int64_t kMaxElements = 1 << 16;

// Nothing if they would be too large.
std::optional<std::map<std::string, HostTensor>> inputsOf(const onnx::Model& model) {
  std::map<std::string, HostTensor> inputs;
  for (const onnx::ModelInput& input : model.inputs()) {
    onnx::Sizes sizes;
    for (const onnx::Dimension& dimension : input.dimensions.value_or(std::vector<onnx::Dimension>{}))
      sizes.push_back(dimension.size < 0 ? 2 : dimension.size);
    int64_t elements = 1;
    for (const int64_t size : sizes)
      if (size > kMaxElements || (elements *= size) > kMaxElements) return std::nullopt;
    HostTensor tensor(input.type, sizes);
    for (size_t i = 0; i < static_cast<size_t>(elements); ++i) tensor.setInteger(i, static_cast<int64_t>(i % 3));
    inputs.emplace(input.name, std::move(tensor));
  }
  return inputs;
}

void checkSentence(const std::exception& error) {
  if (std::string_view(error.what()).ends_with('.')) return;
  std::fprintf(stderr, "no sentence: %s\n", error.what());
  __builtin_trap();
}

class Changes {
 public:
  explicit Changes(unsigned seed) : random_(seed) {}

  void change(::onnx::ModelProto& model) {
    switch (random_() % 12) {
      case 0:
        if (model.opset_import_size()) model.mutable_opset_import(0)->set_version(1 + pick(24));
        break;
      case 1:
        if (model.graph().node_size()) changeOperator(model);
        break;
      default:
        change(*model.mutable_graph());
    }
  }

 private:
  void change(::onnx::GraphProto& graph) {
    if (graph.node_size() == 0) return;
    auto& node = *graph.mutable_node(pick(graph.node_size()));
    switch (random_() % 10) {
      case 0:
      case 1:
        if (node.attribute_size()) changeAttribute(*node.mutable_attribute(pick(node.attribute_size())));
        break;
      case 2:
        if (node.input_size()) node.set_input(pick(node.input_size()), node.input(pick(node.input_size())));
        break;
      case 3:
        if (node.input_size()) node.mutable_input()->RemoveLast();
        break;
      case 4:
        if (node.input_size()) node.mutable_input(pick(node.input_size()))->clear();
        break;
      case 5:
        if (node.input_size()) node.add_input(node.input(pick(node.input_size())));
        break;
      case 6:
        changeName(graph, node);
        break;
      case 7:
        if (graph.input_size()) changeType(*graph.mutable_input(pick(graph.input_size()))->mutable_type());
        break;
      case 8:
        if (graph.initializer_size()) changeTensor(*graph.mutable_initializer(pick(graph.initializer_size())));
        break;
      default:
        // Twice: what reads the first one's output may be the same operator.
        if (node.output_size()) {
          auto& added = *graph.add_node() = node;
          added.set_output(0, node.output(0) + "2");
          if (added.input_size()) added.set_input(0, node.output(0));
          graph.add_output()->set_name(added.output(0));
        }
    }
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  int64_t number() {
    constexpr int64_t kNumbers[] = {
        std::numeric_limits<int64_t>::min(), -(int64_t{1} << 31) - 1, -3, -1, 0, 1, 2, 3, 5, 9, 65, int64_t{1} << 40,
        std::numeric_limits<int64_t>::max()};
    return kNumbers[pick(static_cast<int>(std::size(kNumbers)))];
  }

  // Another of the operators that are mapped reads the same.
  void changeOperator(::onnx::ModelProto& model) {
    static const std::vector<std::string> names = onnx::mappedOperators();
    const std::string& name = names[static_cast<size_t>(pick(static_cast<int>(names.size())))];
    const size_t dot = name.rfind('.');
    const std::string domain = dot == std::string::npos ? "" : name.substr(0, dot);
    auto& node = *model.mutable_graph()->mutable_node(pick(model.graph().node_size()));
    node.set_op_type(dot == std::string::npos ? name : name.substr(dot + 1));
    node.set_domain(domain);
    if (std::ranges::any_of(model.opset_import(), [&](const auto& import) { return import.domain() == domain; }))
      return;
    auto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
  }

  // Of an output of the node or of the graph.
  void changeName(::onnx::GraphProto& graph, ::onnx::NodeProto& node) {
    const std::string name = random_() % 2 || !node.input_size() ? "" : node.input(pick(node.input_size()));
    if (random_() % 2 && graph.output_size())
      graph.mutable_output(pick(graph.output_size()))->set_name(name);
    else if (node.output_size())
      node.set_output(pick(node.output_size()), name);
  }

  void changeAttribute(::onnx::AttributeProto& attribute) {
    using Attribute = ::onnx::AttributeProto;
    switch (attribute.type()) {
      case Attribute::INT:
        attribute.set_i(number());
        break;
      case Attribute::FLOAT:
        attribute.set_f(static_cast<float>(number()));
        break;
      case Attribute::STRING:
        attribute.set_s("?");
        break;
      case Attribute::TENSOR:
        changeTensor(*attribute.mutable_t());
        break;
      case Attribute::GRAPH:
        change(*attribute.mutable_g());
        break;
      case Attribute::INTS:
        if (attribute.ints_size() == 0 || random_() % 4 == 0)
          attribute.add_ints(number());
        else
          attribute.set_ints(pick(attribute.ints_size()), number());
        break;
      default:
        break;
    }
  }

  void changeType(::onnx::TypeProto& type) {
    auto& tensor = *type.mutable_tensor_type();
    if (random_() % 3 == 0) tensor.set_elem_type(pick(24));
    auto& shape = *tensor.mutable_shape();
    if (shape.dim_size() == 0 || random_() % 4 == 0)
      shape.add_dim()->set_dim_value(number());
    else
      shape.mutable_dim(pick(shape.dim_size()))->set_dim_value(number());
  }

  void changeTensor(::onnx::TensorProto& tensor) {
    switch (random_() % 4) {
      case 0:
        tensor.set_data_type(pick(24));
        break;
      case 1:
        if (tensor.dims_size()) tensor.set_dims(pick(tensor.dims_size()), number());
        break;
      case 2:
        if (tensor.int64_data_size()) tensor.set_int64_data(pick(tensor.int64_data_size()), number());
        break;
      default:
        tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
        auto& location = *tensor.add_external_data();
        location.set_key("location");
        location.set_value(random_() % 2 ? "/etc/passwd" : "../data");
    }
  }

  std::minstd_rand random_;
};

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
  ::onnx::ModelProto model;
  if (seed % 2 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  Changes(seed / 2).change(model);
  if (model.ByteSizeLong() > maxSize) return size;
  model.SerializeToArray(data, static_cast<int>(maxSize));
  return model.ByteSizeLong();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto context = createNullContext(kMaxBytes);
  try {
    const onnx::Model model = onnx::parseModel({reinterpret_cast<const char*>(data), size}, {});
    const auto inputs = inputsOf(model);
    if (!inputs) return 0;
    onnx::SessionOptions options;
    options.maxAddedNodes = 1 << 10;
    onnx::Session session(*context.Get(), model, options);
    session.run(*inputs);
    session.run(*inputs);
  } catch (const onnx::ModelError& error) {
    checkSentence(error);
  } catch (const onnx::DeviceError& error) {
    checkSentence(error);
  } catch (const std::bad_alloc&) {
  }
  return 0;
}

}  // namespace dimple::testing
