// Operators of com.microsoft against models of standard operators that say the same, and against ONNX Runtime where
// it is there.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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

// Of two batches, four heads of queries and two of keys, with heads of four channels.
struct Grouped {
  int64_t words, past;           // in the cache
  std::vector<int64_t> lengths;  // of each batch, less one
  int64_t total;
  bool packed = false, rotates = false;
  int64_t window = -1;
};

// Attention by its definition, [batch, word, head * channel].
std::vector<double> expectedOf(const Grouped& g, const Tensors& inputs) {
  const auto at = [&](const char* name, size_t b, size_t w, size_t channel, size_t width) {
    return inputs.at(name).real((b * static_cast<size_t>(g.words) + w) * width + channel);
  };
  const size_t words = static_cast<size_t>(g.words);
  const auto element = [&](size_t part, size_t b, size_t w, size_t h, size_t c, bool turns) {
    const char* name = g.packed ? "q" : part == 0 ? "q" : part == 1 ? "k" : "v";
    const size_t first = g.packed ? (part == 0 ? 0 : part == 1 ? 16 : 24) : 0;
    const size_t width = g.packed ? 32 : part == 0 ? 16 : 8;
    const double own = at(name, b, w, first + h * 4 + c, width);
    if (!turns) return own;
    const auto start = g.words == g.total ? 0 : g.lengths[b] + 1 - g.words;
    const size_t row = static_cast<size_t>(start) + w, pair = c % 2;
    const double other = at(name, b, w, first + h * 4 + (c + 2) % 4, width);
    return own * inputs.at("cos").real(row * 2 + pair) +
           (c < 2 ? -other : other) * inputs.at("sin").real(row * 2 + pair);
  };
  std::vector<double> expected;
  for (size_t b = 0; b < 2; ++b) {
    const size_t start = g.words == g.total ? 0 : static_cast<size_t>(g.lengths[b] + 1 - g.words);
    const auto cached = [&](size_t part, size_t l, size_t h, size_t c) {
      if (l >= start) return element(part, b, l - start, h, c, part == 1 && g.rotates);
      return inputs.at(part == 1 ? "pastK" : "pastV").real(((b * 2 + h) * static_cast<size_t>(g.past) + l) * 4 + c);
    };
    for (size_t w = 0; w < words; ++w)
      for (size_t h = 0; h < 4; ++h) {
        const size_t last = start + w;
        const size_t least =
            g.window > 0 && last + 1 > static_cast<size_t>(g.window) ? last + 1 - static_cast<size_t>(g.window) : 0;
        std::vector<double> weights(last + 1);
        double sum = 0;
        for (size_t l = least; l <= last; ++l) {
          double score = 0;
          for (size_t c = 0; c < 4; ++c) score += element(0, b, w, h, c, g.rotates) * cached(1, l, h / 2, c);
          sum += weights[l] = std::exp(score / 2);
        }
        for (size_t c = 0; c < 4; ++c) {
          double mixed = 0;
          for (size_t l = least; l <= last; ++l) mixed += weights[l] / sum * cached(2, l, h / 2, c);
          expected.push_back(mixed);
        }
      }
  }
  return expected;
}

GPU_TEST_CASE("onnx contrib: GroupQueryAttention") {
  for (const Grouped& g : {Grouped{3, 0, {2, 2}, 3},
                           {3, 6, {2, 2}, 3, true, true},
                           {1, 6, {2, 5}, 6, false, true},
                           {1, 6, {0, 3}, 6, true},
                           {2, 7, {3, 6}, 7, false, false, 3}}) {
    CAPTURE(g.words);
    CAPTURE(g.past);
    Tensors inputs = {{"q", varied(Type::Float, {2, g.words, g.packed ? 32 : 16})},
                      {"lengths", onnx::integerTensor(Type::Int32, g.lengths)}};
    if (!g.packed) {
      inputs["k"] = varied(Type::Float, {2, g.words, 8}, 2);
      inputs["v"] = varied(Type::Float, {2, g.words, 8}, 3);
    }
    if (g.past > 0) {
      inputs["pastK"] = varied(Type::Float, {2, 2, g.past, 4}, 4);
      inputs["pastV"] = varied(Type::Float, {2, 2, g.past, 4}, 5);
    }
    if (g.rotates) {
      inputs["cos"] = varied(Type::Float, {8, 2}, 6);
      inputs["sin"] = varied(Type::Float, {8, 2}, 7);
    }
    ModelMaker maker = makeModel(inputs);
    maker.initializer("total", onnx::integerTensor(Type::Int32, std::vector<int64_t>{g.total}));
    const auto named = [&](const char* name) { return std::string(inputs.contains(name) ? name : ""); };
    auto& node = contrib(
        maker, "GroupQueryAttention",
        {"q", named("k"), named("v"), named("pastK"), named("pastV"), "lengths", "total", named("cos"), named("sin")},
        {"result", "presentK", "presentV"});
    for (const auto& [name, value] : {std::pair{"num_heads", int64_t{4}},
                                      {"kv_num_heads", int64_t{2}},
                                      {"do_rotary", int64_t{g.rotates}},
                                      {"local_window_size", g.window}})
      setAttribute(node, name, value);
    maker.output("presentV");
    const onnx::Model model = maker.model();
    const auto results = onnx::Session(gpu.context(), model).run(inputs);
    CHECK(compareTensors(results[0].tensor, floats({2, g.words, 16}, expectedOf(g, inputs)), kFusedTolerance) == "");
    // The rest of the cache is what it was.
    const HostTensor& present = results[1].tensor;
    REQUIRE(present.sizes == onnx::Sizes{2, 2, std::max(g.past, g.total), 4});
    for (size_t b = 0; b < 2 && g.past > 0; ++b) {
      const size_t past = static_cast<size_t>(g.past);
      const size_t start = g.words == g.total ? 0 : static_cast<size_t>(g.lengths[b] + 1 - g.words);
      for (size_t i = 0; i < 2 * past * 4; ++i)
        if (const size_t l = i / 4 % past; l < start || l >= start + static_cast<size_t>(g.words))
          CHECK(present.real(b * 2 * past * 4 + i) == inputs.at("pastV").real(b * 2 * past * 4 + i));
    }
  }
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
