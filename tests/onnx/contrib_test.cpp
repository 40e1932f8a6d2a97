// Operators of com.microsoft against models of standard operators that say the same, and against ONNX Runtime where
// it is there.
#include <cmath>

#include "tests/gpu_test.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnx/onnx_runtime.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Tensors = std::map<std::string, HostTensor>;

// Numbers from -1 to 1 for floats, all kinds of them for integers.
HostTensor varied(Type type, const onnx::Sizes& sizes, int seed = 1) {
  HostTensor tensor(type, sizes);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i)
    if (onnx::isFloat(type))
      tensor.setReal(i, std::sin(static_cast<double>(i) * 1.7 + seed));
    else
      tensor.setInteger(i, static_cast<int64_t>(i) * 37 + seed * 11);
  return tensor;
}

// A model whose inputs are those of the tensors that its node names.
ModelMaker makeModel(const Tensors& tensors) {
  ModelMaker maker(17);
  auto* import = maker.proto().add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  for (const auto& [name, tensor] : tensors) maker.input(name, tensor.type, tensor.sizes);
  maker.output("result");
  return maker;
}

::onnx::NodeProto& contrib(ModelMaker& maker, const std::string& opType, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  auto& node = maker.node(opType, inputs, outputs);
  node.set_domain("com.microsoft");
  return node;
}

HostTensor run(Gpu& gpu, const ModelMaker& maker, const Tensors& inputs) {
  const onnx::Model model = maker.model();
  return onnx::Session(gpu.context(), model).run(inputs)[0].tensor;
}

constexpr Tolerance kFusedTolerance = {1e-4, 1e-5};

void compare(Gpu& gpu, const ModelMaker& fused, const ModelMaker& plain, const Tensors& inputs) {
  const HostTensor actual = run(gpu, fused, inputs);
  CHECK(compareTensors(actual, run(gpu, plain, inputs),
                       onnx::isFloat(actual.type) ? kFusedTolerance : Tolerance{0, 0}) == "");
  // Another order of sums may quantize to a neighbour.
  if (const auto expected = runtimeResult(fused.bytes(), inputs))
    CHECK(compareTensors(actual, *expected, onnx::isFloat(actual.type) ? Tolerance{1e-3, 1e-4} : Tolerance{0, 1}) ==
          "");
}

GPU_TEST_CASE("onnx contrib: BiasAdd and BiasSplitGelu") {
  const Tensors inputs = {{"x", varied(Type::Float, {2, 3, 8})},
                          {"bias", varied(Type::Float, {8}, 2)},
                          {"skip", varied(Type::Float, {2, 3, 8}, 3)}};
  ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
  contrib(fused, "BiasAdd", {"x", "bias", "skip"}, {"sum"});
  contrib(fused, "BiasSplitGelu", {"sum", "bias"}, {"result"});
  plain.node("Add", {"x", "bias"}, {"a"});
  plain.node("Add", {"a", "skip"}, {"sum"});
  plain.node("Add", {"sum", "bias"}, {"b"});
  setAttribute(plain.node("Split", {"b"}, {"left", "right"}), "axis", -1);
  plain.initializer("root", floats({1}, {std::sqrt(0.5)}));
  plain.initializer("half", floats({1}, {0.5}));
  plain.node("Mul", {"right", "root"}, {"c"});
  plain.node("Erf", {"c"}, {"d"});
  plain.node("Mul", {"right", "half"}, {"e"});
  plain.node("Mul", {"e", "d"}, {"f"});
  plain.node("Add", {"e", "f"}, {"gelu"});
  plain.node("Mul", {"left", "gelu"}, {"result"});
  const HostTensor actual = run(gpu, fused, inputs);
  CHECK(compareTensors(actual, run(gpu, plain, inputs), kFusedTolerance) == "");
}

GPU_TEST_CASE("onnx contrib: QLinearConcat, QLinearSigmoid and pooling") {
  const auto number = [](double value) { return onnx::scalarTensor(Type::Float, value); };
  const auto zero = [](double value) { return onnx::scalarTensor(Type::UInt8, value); };
  const Tensors inputs = {{"x", varied(Type::UInt8, {1, 2, 4, 4})},
                          {"y", varied(Type::UInt8, {1, 3, 4, 4}, 2)},
                          {"xs", number(0.05)},
                          {"xz", zero(100)},
                          {"ys", number(0.02)},
                          {"yz", zero(120)},
                          {"rs", number(0.04)},
                          {"rz", zero(90)}};
  SUBCASE("concat") {
    ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
    setAttribute(contrib(fused, "QLinearConcat", {"rs", "rz", "x", "xs", "xz", "y", "ys", "yz"}, {"result"}), "axis",
                 1);
    plain.node("DequantizeLinear", {"x", "xs", "xz"}, {"a"});
    plain.node("DequantizeLinear", {"y", "ys", "yz"}, {"b"});
    setAttribute(plain.node("Concat", {"a", "b"}, {"c"}), "axis", 1);
    plain.node("QuantizeLinear", {"c", "rs", "rz"}, {"result"});
    compare(gpu, fused, plain, inputs);
  }
  SUBCASE("sigmoid") {
    ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
    contrib(fused, "QLinearSigmoid", {"x", "xs", "xz", "rs", "rz"}, {"result"});
    plain.node("DequantizeLinear", {"x", "xs", "xz"}, {"a"});
    plain.node("Sigmoid", {"a"}, {"b"});
    plain.node("QuantizeLinear", {"b", "rs", "rz"}, {"result"});
    compare(gpu, fused, plain, inputs);
  }
  for (const bool last : {false, true}) SUBCASE(last ? "pooling, channels last" : "pooling") {
      ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
      auto& node = contrib(fused, "QLinearGlobalAveragePool", {"x", "xs", "xz", "rs", "rz"}, {"result"});
      setAttribute(node, "channels_last", int64_t{last});
      plain.node("DequantizeLinear", {"x", "xs", "xz"}, {"a"});
      auto& mean = plain.node("ReduceMean", {"a"}, {"b"});
      setAttribute(mean, "axes", last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
      plain.node("QuantizeLinear", {"b", "rs", "rz"}, {"result"});
      compare(gpu, fused, plain, inputs);
    }
}

GPU_TEST_CASE("onnx contrib: DynamicQuantizeMatMul") {
  const Tensors inputs = {{"a", varied(Type::Float, {2, 3, 8})},
                          {"b", varied(Type::Int8, {8, 5})},
                          {"scale", onnx::scalarTensor(Type::Float, 0.01)},
                          {"bias", varied(Type::Float, {5}, 2)}};
  ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
  contrib(fused, "DynamicQuantizeMatMul", {"a", "b", "scale", "", "bias"}, {"result"});
  plain.node("DynamicQuantizeLinear", {"a"}, {"q", "qs", "qz"});
  plain.node("MatMulInteger", {"q", "b", "qz"}, {"product"});
  setAttribute(plain.node("Cast", {"product"}, {"real"}), "to", 1);
  plain.node("Mul", {"qs", "scale"}, {"scales"});
  plain.node("Mul", {"real", "scales"}, {"scaled"});
  plain.node("Add", {"scaled", "bias"}, {"result"});
  compare(gpu, fused, plain, inputs);
}

GPU_TEST_CASE("onnx contrib: MatMulNBits") {
  // Three blocks of 16 rows, of which the last is half full.
  const Tensors inputs = {{"a", varied(Type::Float, {2, 40})}};
  const HostTensor packed = varied(Type::UInt8, {4, 3, 8});
  const HostTensor scales = varied(Type::Float, {12}, 3);
  const HostTensor zeros = varied(Type::UInt8, {4 * 2}, 5);
  for (const bool withZeros : {false, true}) {
    CAPTURE(withZeros);
    ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
    fused.initializer("b", packed);
    fused.initializer("scales", scales);
    fused.initializer("zeros", zeros);
    std::vector<std::string> names = {"a", "b", "scales"};
    if (withZeros) names.push_back("zeros");
    auto& node = contrib(fused, "MatMulNBits", names, {"result"});
    for (const auto& [name, value] : {std::pair{"K", 40}, {"N", 4}, {"bits", 4}, {"block_size", 16}})
      setAttribute(node, name, int64_t{value});
    HostTensor weights(Type::Float, {40, 4});
    for (size_t k = 0; k < 40; ++k)
      for (size_t n = 0; n < 4; ++n) {
        const int64_t pair = packed.integer(n * 24 + k / 2);
        const int64_t both = zeros.integer(n * 2 + k / 32);
        const int64_t zero = !withZeros ? 8 : k / 16 % 2 ? both >> 4 : both & 15;
        weights.setReal(k * 4 + n,
                        static_cast<double>((k % 2 ? pair >> 4 : pair & 15) - zero) * scales.real(n * 3 + k / 16));
      }
    plain.initializer("weights", weights);
    plain.node("MatMul", {"a", "weights"}, {"result"});
    compare(gpu, fused, plain, inputs);
  }
}

GPU_TEST_CASE("onnx contrib: MultiHeadAttention") {
  const Tensors inputs = {{"q", varied(Type::Float, {2, 3, 8})},
                          {"k", varied(Type::Float, {2, 5, 8}, 2)},
                          {"v", varied(Type::Float, {2, 5, 8}, 3)},
                          {"bias", varied(Type::Float, {24}, 4)},
                          {"mask", onnx::integerTensor(Type::Int32, std::vector<int64_t>{5, 2})},
                          {"extra", varied(Type::Float, {1, 2, 3, 5}, 5)}};
  ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
  setAttribute(contrib(fused, "MultiHeadAttention", {"q", "k", "v", "bias", "mask", "extra"}, {"result"}), "num_heads",
               2);
  plain.initializer("heads", integers({2, -1, 2, 4}));
  plain.initializer("thirds", integers({8, 8, 8}));
  plain.initializer("half", floats({1}, {0.5}));
  plain.initializer("hidden", floats({2, 1, 1, 5}, {0, 0, 0, 0, 0, 0, 0, -10000, -10000, -10000}));
  plain.initializer("flat", integers({2, 3, 8}));
  setAttribute(plain.node("Split", {"bias", "thirds"}, {"qb", "kb", "vb"}), "axis", 0);
  for (const std::string name : {"q", "k", "v"}) {
    plain.node("Add", {name, name + "b"}, {name + "1"});
    plain.node("Reshape", {name + "1", "heads"}, {name + "2"});
    auto& transpose = plain.node("Transpose", {name + "2"}, {name + "3"});
    setAttribute(transpose, "perm", name == "k" ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3});
  }
  plain.node("MatMul", {"q3", "k3"}, {"product"});
  plain.node("Mul", {"product", "half"}, {"scaled"});
  plain.node("Add", {"scaled", "hidden"}, {"masked"});
  plain.node("Add", {"masked", "extra"}, {"scores"});
  plain.node("Softmax", {"scores"}, {"weights"});
  plain.node("MatMul", {"weights", "v3"}, {"context"});
  setAttribute(plain.node("Transpose", {"context"}, {"joined"}), "perm", {0, 2, 1, 3});
  plain.node("Reshape", {"joined", "flat"}, {"result"});
  compare(gpu, fused, plain, inputs);
}

GPU_TEST_CASE("onnx contrib: GroupNorm and EmbedLayerNormalization") {
  SUBCASE("groups") {
    const Tensors inputs = {{"x", varied(Type::Float, {2, 3, 5, 8})},
                            {"scale", varied(Type::Float, {8}, 2)},
                            {"bias", varied(Type::Float, {8}, 3)}};
    ModelMaker fused = makeModel(inputs), plain = makeModel(inputs);
    auto& node = contrib(fused, "GroupNorm", {"x", "scale", "bias"}, {"result"});
    setAttribute(node, "groups", 4);
    setAttribute(node, "activation", 1);
    plain.initializer("grouped", integers({2, 15, 4, 2}));
    plain.initializer("whole", integers({2, 3, 5, 8}));
    plain.initializer("ones", floats({30}, std::vector<double>(30, 1)));
    plain.initializer("zeros", floats({30}, std::vector<double>(30, 0)));
    plain.initializer("rows", integers({2, 4, 30}));
    plain.initializer("back", integers({2, 4, 15, 2}));
    plain.node("Reshape", {"x", "grouped"}, {"a"});
    setAttribute(plain.node("Transpose", {"a"}, {"b"}), "perm", {0, 2, 1, 3});
    plain.node("Reshape", {"b", "rows"}, {"c"});
    plain.node("LayerNormalization", {"c", "ones", "zeros"}, {"d"});
    plain.node("Reshape", {"d", "back"}, {"e"});
    setAttribute(plain.node("Transpose", {"e"}, {"f"}), "perm", {0, 2, 1, 3});
    plain.node("Reshape", {"f", "whole"}, {"g"});
    plain.node("Mul", {"g", "scale"}, {"h"});
    plain.node("Add", {"h", "bias"}, {"i"});
    plain.node("Sigmoid", {"i"}, {"j"});
    plain.node("Mul", {"i", "j"}, {"result"});
    CHECK(compareTensors(run(gpu, fused, inputs), run(gpu, plain, inputs), kFusedTolerance) == "");
  }
  SUBCASE("embedding") {
    const Tensors inputs = {{"ids", onnx::integerTensor(Type::Int32, std::vector<int64_t>{1, 4, 2, 0, 3, 3})},
                            {"words", varied(Type::Float, {5, 8})},
                            {"places", varied(Type::Float, {7, 8}, 2)},
                            {"scale", varied(Type::Float, {8}, 3)},
                            {"bias", varied(Type::Float, {8}, 4)}};
    Tensors shaped = inputs;
    shaped["ids"].sizes = {2, 3};
    ModelMaker fused = makeModel(shaped), plain = makeModel(shaped);
    contrib(fused, "EmbedLayerNormalization", {"ids", "", "words", "places", "", "scale", "bias"}, {"result", "count"});
    plain.initializer("three", integers({3}));
    plain.initializer("zero", integers({0}));
    plain.node("Gather", {"words", "ids"}, {"a"});
    plain.node("Slice", {"places", "zero", "three", "zero"}, {"b"});
    plain.node("Add", {"a", "b"}, {"c"});
    auto& norm = plain.node("LayerNormalization", {"c", "scale", "bias"}, {"result"});
    auto& epsilon = *norm.add_attribute();
    epsilon.set_name("epsilon");
    epsilon.set_type(::onnx::AttributeProto::FLOAT);
    epsilon.set_f(1e-12f);
    compare(gpu, fused, plain, shaped);
  }
}

GPU_TEST_CASE("onnx contrib: RotaryEmbedding from a place on") {
  const Tensors inputs = {{"x", varied(Type::Float, {2, 3, 8})},
                          {"first", integers({2})},
                          {"cosines", varied(Type::Float, {6, 2}, 2)},
                          {"sines", varied(Type::Float, {6, 2}, 3)}};
  ModelMaker fused = makeModel(inputs);
  setAttribute(contrib(fused, "RotaryEmbedding", {"x", "first", "cosines", "sines"}, {"result"}), "num_heads", 2);
  Tensors places = inputs;
  places.erase("first");
  places["ids"] = integers({2, 3, 4, 2, 3, 4});
  places["ids"].sizes = {2, 3};
  ModelMaker plain = makeModel(places);
  plain.proto().mutable_opset_import(0)->set_version(23);
  setAttribute(plain.node("RotaryEmbedding", {"x", "cosines", "sines", "ids"}, {"result"}), "num_heads", 2);
  const HostTensor actual = run(gpu, fused, inputs);
  CHECK(compareTensors(actual, run(gpu, plain, places), kFusedTolerance) == "");
  if (const auto expected = runtimeResult(fused.bytes(), inputs))
    CHECK(compareTensors(actual, *expected, kFusedTolerance) == "");
}

}  // namespace
}  // namespace dimple::testing
