// Operators of language models, in the forms that they have, compared with ONNX Runtime's own processor.
#include <doctest.h>

#include <algorithm>
#include <random>
#include <variant>

#include "clients/onnx/text.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Sizes;
using onnx::Type;
using Numbers = std::vector<int64_t>;

// A tensor: given with the run, unless it is constant.
struct Tensor {
  Type type = Type::Undefined;  // absent
  Sizes sizes = {};
  Numbers integers = {};  // absent: random ones
  bool constant = false;
  double most = 1;  // of floats, from its negative on
};

struct Setting {
  const char* name;
  std::variant<int64_t, float, Numbers> value;
};

struct LanguageCase {
  const char* op;
  std::vector<Tensor> inputs;
  std::vector<Setting> settings = {};
  std::vector<size_t> outputs = {0};
  const char* domain = "com.microsoft";
  size_t compared = SIZE_MAX;  // of the outputs; others have elements that are nothing
};

constexpr Type kFloat = Type::Float, kHalf = Type::Float16, kByte = Type::UInt8, kInt = Type::Int32;
const Tensor kAbsent{};

Tensor reals(Sizes sizes, Type type = kFloat) { return {type, std::move(sizes)}; }
Tensor tiny(Sizes sizes) { return {kFloat, std::move(sizes), {}, false, 1e-5}; }
Tensor ints(Numbers numbers, Type type = kInt) {
  const auto count = static_cast<int64_t>(numbers.size());
  return {type, {count}, std::move(numbers)};
}
Tensor shaped(Sizes sizes, Numbers numbers, Type type = kInt) { return {type, std::move(sizes), std::move(numbers)}; }
Tensor weights(Sizes sizes, Type type = kFloat) { return {type, std::move(sizes), {}, true}; }
Tensor total(int64_t words) { return {kInt, {}, {words}}; }

HostTensor made(const Tensor& tensor, std::mt19937& random) {
  HostTensor result(tensor.type, tensor.sizes);
  for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i)
    if (onnx::isFloat(tensor.type))
      result.setReal(i, tensor.most * (static_cast<double>(random() % 2001) / 1000 - 1));
    else
      result.setInteger(i, tensor.integers.empty() ? static_cast<int64_t>(random() % 256) : tensor.integers[i]);
  return result;
}

void set(::onnx::NodeProto& node, const Setting& setting) {
  if (const auto* integer = std::get_if<int64_t>(&setting.value)) return setAttribute(node, setting.name, *integer);
  if (const auto* list = std::get_if<Numbers>(&setting.value)) return setAttribute(node, setting.name, *list);
  auto& attribute = *node.add_attribute();
  attribute.set_name(setting.name);
  attribute.set_type(::onnx::AttributeProto::FLOAT);
  attribute.set_f(std::get<float>(setting.value));
}

void compare(const Host& host, const LanguageCase& languageCase, std::mt19937& random, Tolerance tolerance) {
  ModelMaker model(17);
  auto& import = *model.proto().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  Inputs inputs;
  std::vector<std::string> names, outputs;
  std::string text = languageCase.op;
  for (const Tensor& tensor : languageCase.inputs) {
    names.push_back(tensor.type == Type::Undefined ? "" : onnx::cat("x", names.size()));
    text += onnx::cat(" ", names.back().empty() ? "-" : onnx::typeName(tensor.type), onnx::listText(tensor.sizes));
    if (names.back().empty()) continue;
    const HostTensor values = made(tensor, random);
    if (tensor.constant) {
      model.initializer(names.back(), values);
    } else {
      model.input(names.back(), tensor.type, tensor.sizes);
      inputs[names.back()] = values;
    }
  }
  for (const size_t output : languageCase.outputs) {
    outputs.resize(output + 1);
    outputs[output] = onnx::cat("y", output);
    model.output(outputs[output]);
  }
  auto& node = model.node(languageCase.op, names, outputs);
  node.set_domain(languageCase.domain);
  for (const Setting& setting : languageCase.settings) {
    set(node, setting);
    text += onnx::cat(" ", setting.name);
  }
  CAPTURE(text);
  const std::string bytes = model.bytes();
  const std::string refusal = refusalOf(host, bytes, {.provider = {}, .optimize = false});
  CHECK(refusal == "");
  if (!refusal.empty()) return;
  const auto expected = host.open(bytes, {.provider = {}, .engine = Engine::Processor, .optimize = false}).run(inputs);
  const auto results = host.open(bytes, {.provider = {}, .optimize = false}).run(inputs);
  REQUIRE(results.size() == expected.size());
  for (size_t i = 0; i < std::min(results.size(), languageCase.compared); ++i) {
    CAPTURE(languageCase.outputs[i]);
    CHECK(compareTensors(results[i].tensor, expected[i].tensor, tolerance) == "");
  }
}

void compareAll(const std::vector<LanguageCase>& cases, Tolerance tolerance = {1e-4, 1e-4}) {
  const Host host;
  std::mt19937 random(5);
  for (const LanguageCase& languageCase : cases) compare(host, languageCase, random, tolerance);
}

// Weights of so many bits; `zeros`: packed, floats, or none.
enum class Zeros : uint8_t { None, Packed, Floats };
LanguageCase blockProduct(Sizes rows, int64_t depth, int64_t block, int64_t bits, Zeros zeros, bool biased = false,
                          Type type = kFloat) {
  const int64_t columns = 24, blocks = (depth + block - 1) / block;
  rows.push_back(depth);
  LanguageCase made{"MatMulNBits",
                    {reals(rows, type), weights({columns, blocks, block * bits / 8}, kByte),
                     weights({columns, blocks}, type), kAbsent, kAbsent, kAbsent},
                    {{"K", depth}, {"N", columns}, {"bits", bits}, {"block_size", block}}};
  if (zeros == Zeros::Packed) made.inputs[3] = weights({columns, (blocks * bits + 7) / 8}, kByte);
  if (zeros == Zeros::Floats) made.inputs[3] = {type, {columns, blocks}, {}, true, 8};
  if (biased) made.inputs[5] = weights({columns}, type);
  while (made.inputs.back().type == Type::Undefined) made.inputs.pop_back();
  return made;
}

TEST_CASE("provider language operators: MatMulNBits") {
  compareAll({
      blockProduct({1, 1}, 64, 32, 4, Zeros::None),
      blockProduct({2, 3}, 128, 32, 4, Zeros::Packed, true),
      blockProduct({2, 3}, 96, 32, 4, Zeros::Packed),
      blockProduct({20}, 64, 16, 4, Zeros::None, true),
      blockProduct({3}, 256, 128, 4, Zeros::Packed),
      blockProduct({3}, 40, 16, 4, Zeros::Packed),
      blockProduct({3}, 24, 32, 4, Zeros::None),
      blockProduct({3}, 64, 32, 4, Zeros::Floats, true),
      blockProduct({2, 3}, 64, 32, 8, Zeros::None),
      blockProduct({20}, 96, 32, 8, Zeros::Packed, true),
      blockProduct({3}, 64, 32, 2, Zeros::None),
      blockProduct({3}, 96, 32, 2, Zeros::Packed, true),
  });
}

TEST_CASE("provider language operators: MatMulNBits of FLOAT16") {
  compareAll({blockProduct({1, 1}, 64, 32, 4, Zeros::None, false, kHalf),
              blockProduct({20}, 128, 32, 4, Zeros::Packed, true, kHalf)},
             {4e-2, 4e-2});
}

TEST_CASE("provider language operators: GroupQueryAttention") {
  // Of four heads of queries and two of keys, with 16 channels.
  const auto grouped = [](std::vector<Tensor> inputs, std::vector<Setting> settings = {}, size_t compared = 3) {
    settings.push_back({"num_heads", int64_t{4}});
    settings.push_back({"kv_num_heads", int64_t{2}});
    return LanguageCase{"GroupQueryAttention", std::move(inputs), std::move(settings), {0, 1, 2},
                        "com.microsoft",       compared};
  };
  const auto words = [](int64_t batch, int64_t count, int64_t past) {
    std::vector<Tensor> inputs{reals({batch, count, 64}), reals({batch, count, 32}), reals({batch, count, 32}), kAbsent,
                               kAbsent};
    if (past > 0) inputs[3] = inputs[4] = reals({batch, 2, past, 16});
    return inputs;
  };
  const auto with = [](std::vector<Tensor> inputs, std::vector<Tensor> more) {
    inputs.insert(inputs.end(), more.begin(), more.end());
    return inputs;
  };
  const Tensor angles = reals({16, 8});
  const std::vector<Tensor> prompt = with(words(2, 3, 0), {ints({2, 2}), total(3)});
  const std::vector<Tensor> step = with(words(2, 1, 6), {ints({5, 5}), total(6)});
  const Setting rotates{"do_rotary", int64_t{1}};
  compareAll({
      grouped(prompt),
      grouped(step),
      grouped(with(prompt, {angles, angles}), {rotates}),
      grouped(with(step, {angles, angles}), {rotates, {"rotary_interleaved", int64_t{1}}}),
      grouped(with({reals({2, 1, 128}), kAbsent, kAbsent, reals({2, 2, 6, 16}), reals({2, 2, 6, 16})},
                   {ints({5, 5}), total(6), reals({16, 8}), reals({16, 8})}),
              {rotates}),
      // A cache that grows, and one with room.
      grouped(with(words(1, 1, 5), {ints({5}), total(6)})),
      grouped(with(words(2, 1, 9), {ints({5, 3}), total(6)}), {}, 1),
      grouped(with(words(1, 3, 9), {ints({6}), total(7)}), {{"scale", 0.3f}}, 1),
      grouped(with(words(1, 3, 9), {ints({6}), total(7)}), {{"softcap", 0.5f}}, 1),
      grouped(with(words(1, 3, 9), {ints({6}), total(7), angles, angles, shaped({1, 3}, {1, 5, 2}, Type::Int64)}),
              {rotates}, 1),
      grouped(with(words(1, 3, 0), {ints({2}), total(3), angles, angles, shaped({1, 3}, {4, 0, 0}, Type::Int64)}),
              {rotates}),
      grouped(step, {{"local_window_size", int64_t{3}}}),
      grouped(prompt, {{"softcap", 0.5f}}),
      grouped(prompt, {{"smooth_softmax", int64_t{1}}}),
      grouped(with(prompt, {kAbsent, kAbsent, kAbsent, kAbsent, reals({4})})),
      grouped(with(prompt, {kAbsent, kAbsent, kAbsent, reals({1, 4, 3, 3})})),
  });
}

TEST_CASE("provider language operators: MultiHeadAttention") {
  const auto attention = [](std::vector<Tensor> inputs, std::vector<Setting> settings = {},
                            std::vector<size_t> outputs = {0}) {
    settings.push_back({"num_heads", int64_t{2}});
    return LanguageCase{"MultiHeadAttention", std::move(inputs), std::move(settings), std::move(outputs)};
  };
  const Tensor q = reals({2, 3, 16}), kv = reals({2, 5, 16}), own = reals({2, 3, 16}), past = reals({2, 2, 4, 8});
  compareAll({
      attention({q, kv, kv, reals({48})}),
      attention({q, kv, reals({2, 5, 12}), reals({44})}, {{"scale", 0.2f}}),
      attention({q, kv, kv, kAbsent, ints({5, 2})}),
      attention({q, kv, kv, kAbsent, shaped({2, 5}, {1, 1, 1, 0, 0, 0, 1, 1, 1, 1})}, {{"mask_filter_value", -50.0f}}),
      attention({q, own, own, kAbsent, kAbsent, reals({1, 2, 3, 3})}, {{"unidirectional", int64_t{1}}}),
      attention({q, own, own, reals({48}), kAbsent, reals({2, 2, 3, 7}), past, past}, {}, {0, 1, 2}),
      attention({q, own, own, kAbsent, kAbsent, kAbsent, past, past}, {{"unidirectional", int64_t{1}}}, {0, 1, 2}),
      attention({q, reals({2, 2, 5, 8}), reals({2, 2, 5, 8})}),
  });
}

TEST_CASE("provider language operators: Attention and QAttention") {
  const auto attention = [](std::vector<Tensor> inputs, std::vector<Setting> settings = {},
                            std::vector<size_t> outputs = {0}, const char* op = "Attention") {
    settings.push_back({"num_heads", int64_t{2}});
    return LanguageCase{op, std::move(inputs), std::move(settings), std::move(outputs)};
  };
  const auto quantized = [&](std::vector<Tensor> inputs, std::vector<Setting> settings = {},
                             std::vector<size_t> outputs = {0}) {
    return attention(std::move(inputs), std::move(settings), std::move(outputs), "QAttention");
  };
  const Tensor x = reals({2, 3, 10}), w = weights({10, 48}), b = weights({48}), past = reals({2, 2, 2, 4, 8});
  // Of seven bits: ONNX Runtime's sums of two products saturate on processors without instructions for them.
  Numbers sevenBits(10 * 48);
  for (size_t i = 0; i < sevenBits.size(); ++i) sevenBits[i] = int64_t(i * 37 % 127) - 63;
  const Tensor bytes{kByte, {2, 3, 10}}, integers{Type::Int8, {10, 48}, sevenBits, true};
  const Tensor scale{kFloat, {}, {}, true, 0.02}, scales{kFloat, {48}, {}, true, 0.02}, zero{kByte, {}, {}, true};
  const Setting causal{"unidirectional", int64_t{1}};
  compareAll({
      attention({x, w, b}),
      attention({x, w, b, ints({3, 1})}, {{"scale", 0.2f}}),
      attention({x, w, b, ints({3, 2, 1, 0})}),
      attention({x, w, b, shaped({2, 3}, {1, 1, 0, 0, 1, 1})}, {causal}),
      attention({x, w, b, shaped({2, 1}, {0, 0})}),
      attention({x, w, b, shaped({2, 3, 3}, {1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1})}),
      attention({x, w, b, kAbsent, past}, {causal}, {0, 1}),
      attention({x, w, b, kAbsent, kAbsent, reals({2, 2, 3, 3})}, {}, {0, 1}),
      attention({x, weights({10, 44}), weights({44})}, {{"qkv_hidden_sizes", Numbers{16, 16, 12}}}),
      quantized({bytes, integers, b, scale, scale, kAbsent, zero}),
      quantized({bytes, integers, b, scale, scales, ints({3, 1}), zero}, {causal}),
      quantized({bytes, {kByte, {10, 48}, {}, true}, b, scale, scale, kAbsent, zero, zero, past}, {}, {0, 1}),
  });
}

TEST_CASE("provider language operators: RotaryEmbedding") {
  const auto rotary = [](std::vector<Tensor> inputs, std::vector<Setting> settings = {}) {
    return LanguageCase{"RotaryEmbedding", std::move(inputs), std::move(settings)};
  };
  const Tensor angles = reals({9, 4}), flat = reals({2, 3, 16}), heads = reals({2, 2, 3, 8});
  const Tensor first = ints({4}, Type::Int64), all = shaped({2, 3}, {0, 1, 2, 6, 3, 8}, Type::Int64);
  const Setting interleaved{"interleaved", int64_t{1}};
  compareAll({
      rotary({flat, first, angles, angles}),
      rotary({flat, all, angles, angles}, {interleaved}),
      rotary({heads, all, angles, angles}),
      rotary({heads, first, angles, angles}, {interleaved}),
      rotary({flat, all, reals({9, 2}), reals({9, 2})},
             {{"rotary_embedding_dim", int64_t{4}}, {"num_heads", int64_t{2}}}),
      rotary({heads, all, reals({9, 2}), reals({9, 2})},
             {{"rotary_embedding_dim", int64_t{4}}, {"num_heads", int64_t{2}}, interleaved}),
      rotary({reals({1, 12, 16}), shaped({1, 12}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4}, Type::Int64), angles, angles},
             {{"is_packed_batching", int64_t{1}}}),
  });
}

TEST_CASE("provider language operators: normalizations") {
  const auto skip = [](const char* op, std::vector<Tensor> inputs, std::vector<size_t> outputs,
                       std::vector<Setting> settings = {}) {
    return LanguageCase{op, std::move(inputs), std::move(settings), std::move(outputs)};
  };
  const Tensor x = reals({2, 3, 16}), row = weights({16}), small = tiny({2, 3, 16});
  compareAll({
      skip("SkipLayerNormalization", {x, x, row, row, row}, {0, 3}),
      skip("SkipLayerNormalization", {x, reals({3, 16}), row}, {0}, {{"epsilon", 0.1f}}),
      skip("SkipLayerNormalization", {small, tiny({1, 3, 16}), row, row}, {0}),
      skip("SkipSimplifiedLayerNormalization", {x, x, row, row}, {0, 3}),
      skip("SkipSimplifiedLayerNormalization", {small, small, row}, {0}),
      skip("SkipSimplifiedLayerNormalization", {reals({6, 16}), reals({6, 16}), row}, {0, 3}, {{"epsilon", 0.1f}}),
      {"SimplifiedLayerNormalization", {x, row}, {{"epsilon", 0.1f}}, {0}, ""},
      {"SimplifiedLayerNormalization", {x, weights({3, 16})}, {{"axis", int64_t{1}}}, {0}, ""},
  });
}

}  // namespace
}  // namespace dimple::testing
