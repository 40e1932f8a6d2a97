// The standard's models with other numbers in them: they run, or are refused with a sentence.
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "clients/onnx/control_flow.h"
#include "clients/onnx/failure.h"
#include "clients/onnx/session.h"
#include "tests/conformance/selection.h"
#include "tests/gpu_test.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnx/standard_tests.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;

constexpr int64_t kNumbers[] = {
    std::numeric_limits<int64_t>::min(), -(int64_t{1} << 31) - 1, -3, -1, 0, 1, 2, 3, 5, 9, int64_t{1} << 40,
    std::numeric_limits<int64_t>::max()};

class Changes {
 public:
  explicit Changes(uint32_t seed) : random_(seed) {}

  void change(::onnx::ModelProto& model, std::map<std::string, HostTensor>& inputs) {
    auto& graph = *model.mutable_graph();
    auto& node = *graph.mutable_node(pick(graph.node_size()));
    switch (random_() % 4) {
      case 0:
        if (node.attribute_size()) changeAttribute(*node.mutable_attribute(pick(node.attribute_size())));
        break;
      case 1:
        changeElement(inputs);
        break;
      case 2:
        if (node.input_size()) node.set_input(pick(node.input_size()), node.input(pick(node.input_size())));
        break;
      default:
        if (node.input_size() > 1) node.mutable_input()->RemoveLast();
    }
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }
  int64_t number() { return kNumbers[pick(static_cast<int>(std::size(kNumbers)))]; }

  void changeAttribute(::onnx::AttributeProto& attribute) {
    if (attribute.type() == ::onnx::AttributeProto::INT) attribute.set_i(number());
    if (attribute.type() == ::onnx::AttributeProto::FLOAT) attribute.set_f(static_cast<float>(number()));
    if (attribute.type() == ::onnx::AttributeProto::STRING) attribute.set_s("?");
    if (attribute.type() != ::onnx::AttributeProto::INTS || attribute.ints_size() == 0) return;
    if (random_() % 4 == 0)
      attribute.mutable_ints()->RemoveLast();
    else
      attribute.set_ints(pick(attribute.ints_size()), number());
  }

  void changeElement(std::map<std::string, HostTensor>& inputs) {
    for (auto& [name, tensor] : inputs)
      if (!onnx::isFloat(tensor.type) && tensor.elements() > 0)
        tensor.setInteger(static_cast<size_t>(pick(static_cast<int>(tensor.elements()))), number());
  }

  std::minstd_rand random_;
};

GPU_TEST_CASE("onnx hostile: numbers of all kinds in the standard's models") {
  const auto folders = standardTests();
  uint32_t seed = 0;
  int ran = 0, refused = 0;
  constexpr size_t kRounds = 2;
  for (size_t i = 0; i < kRounds * folders.size(); i += selection().sample) {
    const auto& folder = folders[i % folders.size()];
    StandardTest test;
    try {
      test = readStandardTest(folder);
    } catch (const onnx::ModelError&) {
      continue;  // its data is none
    }
    CAPTURE(folder.string());
    CAPTURE(++seed);
    Changes(seed).change(test.model, test.inputs);
    try {
      const onnx::Model model(onnx::describe(test.model, {}));
      onnx::Session(gpu.context(), model).run(test.inputs);
      ++ran;
    } catch (const onnx::ModelError& error) {
      ++refused;
      CHECK(std::string_view(error.what()).ends_with('.'));
    } catch (const onnx::DeviceError&) {
      ++refused;
    }
  }
  MESSAGE(ran << " ran, " << refused << " were refused");
  if (!folders.empty() && selection().sample == 1) CHECK((ran > 0 && refused > 0));
}

}  // namespace
}  // namespace dimple::testing
