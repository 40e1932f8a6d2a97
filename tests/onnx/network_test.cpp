// Whole networks: as one graph they give what their nodes give one by one, and what ONNX Runtime gives where
// DIMPLE_ONNX_RUNTIME names a folder with the npm package onnxruntime-node.
#include <algorithm>

#include "tests/gpu_test.h"
#include "tests/onnx/networks.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnx/onnx_runtime.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using Tensors = std::map<std::string, HostTensor>;

constexpr Tolerance kNetworkTolerance = {1e-3, 1e-4};

// Each node as a model of its own.
Tensors runNodes(Gpu& gpu, const ModelMaker& network, const Tensors& inputs) {
  Tensors values = inputs;
  const auto& graph = network.proto().graph();
  for (const auto& tensor : graph.initializer()) values[tensor.name()] = onnx::readTensor(tensor, {});
  for (const auto& node : graph.node()) {
    ModelMaker single(network.proto().opset_import(0).version());
    Tensors own;
    for (const auto& name : node.input()) {
      if (name.empty() || own.contains(name)) continue;
      own[name] = values.at(name);
      single.input(name, own[name].type, own[name].sizes);
    }
    *single.proto().mutable_graph()->add_node() = node;
    for (const auto& name : node.output()) single.output(name);
    const onnx::Model model = single.model();
    for (auto& [name, tensor] : onnx::Session(gpu.context(), model).run(own)) values[name] = std::move(tensor);
  }
  return values;
}

void compareWithNodes(Gpu& gpu, const Network& network, Tolerance tolerance = kNetworkTolerance) {
  const onnx::Model model = network.model.model();
  onnx::Session session(gpu.context(), model);
  const auto results = session.run(network.inputs);
  CHECK(session.statistics().graphs == 1);
  const Tensors values = runNodes(gpu, network.model, network.inputs);
  REQUIRE(results.size() == 1);
  CHECK(compareTensors(results[0].tensor, values.at("result"), tolerance) == "");
  // Numbers that differ tell that weights and picture count.
  const auto numbers = results[0].tensor.reals();
  CHECK(std::ranges::any_of(numbers, [&](double number) { return number != numbers[0]; }));
}

GPU_TEST_CASE("onnx networks: SqueezeNet as one graph") { compareWithNodes(gpu, squeezeNet({4, 64})); }
GPU_TEST_CASE("onnx networks: MobileNetV2 as one graph") { compareWithNodes(gpu, mobileNet({4, 64})); }
GPU_TEST_CASE("onnx networks: ResNet-50 as one graph") { compareWithNodes(gpu, resNet({8, 64})); }
GPU_TEST_CASE("onnx networks: a transformer as one graph") { compareWithNodes(gpu, transformer({4, 12})); }
GPU_TEST_CASE("onnx networks: one of 8-bit numbers as one graph") {
  compareWithNodes(gpu, quantizedNet({1, 32}), {0, 0});
}

void compareWithRuntime(Gpu& gpu, const Network& network) {
  const auto expected = runtimeResult(network.model.bytes(), network.inputs);
  if (!expected) return;
  const onnx::Model model = network.model.model();
  const auto results = onnx::Session(gpu.context(), model).run(network.inputs);
  CHECK(compareTensors(results[0].tensor, *expected, kNetworkTolerance) == "");
}

GPU_TEST_CASE("onnx networks: SqueezeNet and ONNX Runtime") { compareWithRuntime(gpu, squeezeNet({1, 224})); }
GPU_TEST_CASE("onnx networks: MobileNetV2 and ONNX Runtime") { compareWithRuntime(gpu, mobileNet({1, 224})); }
GPU_TEST_CASE("onnx networks: ResNet-50 and ONNX Runtime") { compareWithRuntime(gpu, resNet({1, 112})); }
GPU_TEST_CASE("onnx networks: a transformer and ONNX Runtime") { compareWithRuntime(gpu, transformer({1, 64})); }

}  // namespace
}  // namespace dimple::testing
