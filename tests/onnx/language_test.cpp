// Operators of language models: what ONNX Runtime's own processor does not have, caches that stay in place, and what is
// refused.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "clients/onnx/failure.h"
#include "clients/onnx/text.h"
#include "tests/gpu_test.h"
#include "tests/onnx/language_model.h"
#include "tests/onnx/onnx_run.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using NamedTensors = std::map<std::string, HostTensor>;

HostTensor waves(const onnx::Sizes& sizes, double seed = 1, Type type = Type::Float) {
  HostTensor tensor(type, sizes);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i)
    if (onnx::isFloat(type))
      tensor.setReal(i, std::sin(static_cast<double>(i) * 1.3 + seed));
    else
      tensor.setInteger(i, static_cast<int64_t>(i) * 37 % 251);
  return tensor;
}

// A model of one node, whose inputs are the tensors that it names.
ModelMaker oneNode(const std::string& op, const NamedTensors& tensors, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs,
                   const std::vector<std::pair<const char*, int64_t>>& numbers) {
  ModelMaker maker(17);
  auto& import = *maker.proto().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  for (const auto& [name, tensor] : tensors) maker.input(name, tensor.type, tensor.sizes);
  auto& node = maker.node(op, inputs, outputs);
  node.set_domain("com.microsoft");
  for (const auto& [name, number] : numbers) setAttribute(node, name, number);
  for (const std::string& output : outputs) maker.output(output);
  return maker;
}

std::vector<onnx::NamedTensor> runNode(Gpu& gpu, const ModelMaker& maker, const NamedTensors& tensors) {
  const onnx::Model model = maker.model();
  return onnx::Session(gpu.context(), model).run(tensors);
}

// Parts of [batch, length, heads * size], one behind the other for each head.
HostTensor packedOf(const std::vector<HostTensor>& parts, int64_t heads) {
  const onnx::Sizes& sizes = parts[0].sizes;
  const int64_t size = sizes[2] / heads, count = static_cast<int64_t>(parts.size());
  HostTensor packed(Type::Float, {sizes[0], sizes[1], heads, count, size});
  for (int64_t i = 0; i < packed.elements(); ++i) {
    const int64_t channel = i % size, part = i / size % count, head = i / size / count % heads;
    const int64_t row = i / size / count / heads;
    packed.setReal(static_cast<size_t>(i),
                   parts[static_cast<size_t>(part)].real(static_cast<size_t>((row * heads + head) * size + channel)));
  }
  return packed;
}

GPU_TEST_CASE("onnx language: MultiHeadAttention of packed tensors is that of their parts") {
  const NamedTensors parts = {
      {"q", waves({2, 3, 16})}, {"k", waves({2, 3, 16}, 2)}, {"v", waves({2, 3, 16}, 3)}, {"bias", waves({48}, 4)}};
  const std::vector<std::string> outputs = {"y", "key", "value"};
  const auto expected =
      runNode(gpu, oneNode("MultiHeadAttention", parts, {"q", "k", "v", "bias"}, outputs, {{"num_heads", 2}}), parts);
  const NamedTensors all = {{"qkv", packedOf({parts.at("q"), parts.at("k"), parts.at("v")}, 2)},
                            {"bias", parts.at("bias")}};
  const NamedTensors two = {
      {"q", parts.at("q")}, {"kv", packedOf({parts.at("k"), parts.at("v")}, 2)}, {"bias", parts.at("bias")}};
  for (const auto& results :
       {runNode(gpu, oneNode("MultiHeadAttention", all, {"qkv", "", "", "bias"}, outputs, {{"num_heads", 2}}), all),
        runNode(gpu, oneNode("MultiHeadAttention", two, {"q", "kv", "", "bias"}, outputs, {{"num_heads", 2}}), two)})
    for (size_t i = 0; i < 3; ++i) CHECK(compareTensors(results[i].tensor, expected[i].tensor, {1e-5, 1e-6}) == "");
}

GPU_TEST_CASE("onnx language: Attention without a bias is that with zeros") {
  NamedTensors inputs = {{"x", waves({2, 3, 10})}, {"w", waves({10, 48}, 2)}, {"b", HostTensor(Type::Float, {48})}};
  const auto expected = runNode(gpu, oneNode("Attention", inputs, {"x", "w", "b"}, {"y"}, {{"num_heads", 2}}), inputs);
  inputs.erase("b");
  const auto results = runNode(gpu, oneNode("Attention", inputs, {"x", "w"}, {"y"}, {{"num_heads", 2}}), inputs);
  CHECK(compareTensors(results[0].tensor, expected[0].tensor, {1e-6, 1e-6}) == "");
}

GPU_TEST_CASE("onnx language: normalizations of sums hold small numbers") {
  NamedTensors inputs = {{"x", waves({1, 2, 16})}, {"skip", HostTensor(Type::Float, {1, 2, 16})}};
  inputs["scale"] = HostTensor(Type::Float, {16});
  for (float& value : inputs["x"].as<float>()) value *= 1e-5f;
  for (float& value : inputs["scale"].as<float>()) value = 1;
  for (const char* op : {"SkipSimplifiedLayerNormalization", "SkipLayerNormalization"}) {
    const auto results = runNode(gpu, oneNode(op, inputs, {"x", "skip", "scale"}, {"y"}, {}), inputs);
    double squares = 0;
    for (const double value : results[0].tensor.reals()) squares += value * value;
    CHECK(squares > 31);
    CHECK(squares < 32.1);
  }
}

// What the operators of a session are.
class Attentions final : public onnx::GraphObserver {
 public:
  void created(IDMLOperator&, const DML_OPERATOR_DESC& desc) override {
    appending += desc.Type == DML_OPERATOR_MULTIHEAD_ATTENTION1;
  }
  void compiling(const DML_GRAPH_DESC&, const std::vector<std::string>&) override { ++graphs; }

  int appending = 0;
  int graphs = 0;
};

GPU_TEST_CASE("onnx language: a cache that is given and wanted is appended to, and else copied") {
  // The second batch has fewer words; what is behind the new ones stays as it is.
  NamedTensors inputs = {{"q", waves({2, 2, 32})},
                         {"k", waves({2, 2, 16}, 2)},
                         {"v", waves({2, 2, 16}, 3)},
                         {"pastK", waves({2, 2, 7, 8}, 4)},
                         {"pastV", waves({2, 2, 7, 8}, 5)},
                         {"last", onnx::integerTensor(Type::Int32, std::vector<int64_t>{5, 3})},
                         {"total", onnx::scalarTensor(Type::Int32, 6)}};
  const auto run = [&](const std::vector<std::string>& outputs, int appending) {
    ModelMaker maker = oneNode("GroupQueryAttention", inputs, {"q", "k", "v", "pastK", "pastV", "last", "total"},
                               {"y", "presentK", "presentV"}, {{"num_heads", 4}, {"kv_num_heads", 2}});
    maker.proto().mutable_graph()->clear_output();
    for (const std::string& output : outputs) maker.output(output);
    const onnx::Model model = maker.model();
    Attentions attentions;
    onnx::Session session(gpu.context(), model, {.observer = &attentions});
    auto results = session.run(inputs);
    CHECK(attentions.appending == appending);
    // The number of words in all may grow while the cache has room.
    NamedTensors more = inputs;
    more["total"] = onnx::scalarTensor(Type::Int32, 7);
    session.run(more);
    CHECK(attentions.graphs == 1);
    more["total"] = onnx::scalarTensor(Type::Int32, 2);
    session.run(more);
    CHECK(attentions.graphs == 2);
    return results;
  };
  const auto copied = run({"y", "presentV"}, 0), appended = run({"y", "presentV", "presentK"}, 1);
  for (size_t i = 0; i < 2; ++i)
    CHECK(compareTensors(appended[i].tensor, copied[i].tensor, i == 0 ? Tolerance{1e-5, 1e-6} : Tolerance{0, 0}) == "");
  const HostTensor &past = inputs.at("pastK"), &present = appended[2].tensor;
  for (size_t i = 0; i < static_cast<size_t>(past.elements()); ++i) {
    const size_t place = i / 8 % 7, first = i / 112 == 0 ? 4 : 2;
    const bool isNew = place >= first && place < first + 2;
    const size_t word = (i / 112 * 2 + place - first) * 16 + i / 56 % 2 * 8 + i % 8;
    CHECK(present.real(i) == (isNew ? inputs.at("k").real(word) : past.real(i)));
  }
}

// The types of operators, in the order in which they are made.
class Operators final : public onnx::GraphObserver {
 public:
  void created(IDMLOperator&, const DML_OPERATOR_DESC& desc) override {
    if (desc.Type != DML_OPERATOR_DEQUANTIZE) return;
    const auto& dequantize = *static_cast<const DML_DEQUANTIZE_OPERATOR_DESC*>(desc.Desc);
    types.push_back(static_cast<const DML_BUFFER_TENSOR_DESC*>(dequantize.InputTensor->Desc)->DataType);
  }
  void compiling(const DML_GRAPH_DESC&, const std::vector<std::string>&) override {}

  std::vector<DML_TENSOR_DATA_TYPE> types;  // of what is dequantized
};

GPU_TEST_CASE("onnx language: the weights of a decoder stay integers") {
  LanguageSizes sizes;
  sizes.layers = 1;
  NamedTensors inputs = languageInputs(sizes, promptOf(sizes, 2), 0);
  for (const auto& [past, present] : cachesOf(sizes)) inputs[past] = HostTensor(sizes.type, sizes.cache());
  const onnx::Model model = languageModel(sizes).model();
  Operators operators;
  onnx::Session(gpu.context(), model, {.observer = &operators}).run(inputs);
  // Those of queries, keys and values together, of attention, of gates and what they gate, of what follows, and of
  // logits.
  CHECK(operators.types == std::vector<DML_TENSOR_DATA_TYPE>(5, DML_TENSOR_DATA_TYPE_UINT4));
}

// How many inputs graphs have.
class GraphInputs final : public onnx::GraphObserver {
 public:
  void created(IDMLOperator&, const DML_OPERATOR_DESC&) override {}
  void compiling(const DML_GRAPH_DESC& desc, const std::vector<std::string>&) override { count = desc.InputCount; }

  UINT count = 0;
};

GPU_TEST_CASE("onnx language: equal constants of few bytes are one") {
  ModelMaker maker;
  maker.input("x", Type::Float, {3});
  for (const char* name : {"a", "b"}) maker.initializer(name, floats({3}, {1, 2, 3}));
  maker.initializer("c", floats({3}, {1, 2, 4}));
  maker.node("Add", {"x", "a"}, {"xa"});
  maker.node("Mul", {"xa", "b"}, {"xab"});
  maker.node("Sub", {"xab", "c"}, {"y"});
  maker.output("y");
  const onnx::Model model = maker.model();
  GraphInputs inputs;
  const auto results = onnx::Session(gpu.context(), model, {.observer = &inputs}).run({{"x", floats({3}, {5, 6, 7})}});
  CHECK(results[0].tensor.reals() == std::vector<double>{5, 14, 26});
  CHECK(inputs.count == 3);
}

struct Refused {
  const char* op;
  std::vector<std::pair<std::string, HostTensor>> inputs;  // without a type: absent
  std::vector<std::pair<const char*, int64_t>> numbers;
  const char* reason;
};

GPU_TEST_CASE("onnx language: refusals name the attribute or input") {
  const HostTensor x = waves({1, 2, 64}), absent, bytes = waves({8, 2, 16}, 1, Type::UInt8), scales = waves({8, 2});
  const HostTensor q = waves({1, 1, 32}), k = waves({1, 1, 16}), cache = waves({1, 2, 4, 8}), one = waves({8});
  const HostTensor last = integers({0}), words = onnx::scalarTensor(Type::Int32, 1);
  const HostTensor w = waves({64, 48}), angles = waves({4, 4});
  const auto product = [&](std::vector<std::pair<const char*, int64_t>> numbers) {
    numbers.insert(numbers.end(), {{"K", 64}, {"N", 8}, {"block_size", 32}});
    return numbers;
  };
  const auto grouped = [](std::vector<std::pair<const char*, int64_t>> numbers) {
    numbers.insert(numbers.end(), {{"num_heads", 4}, {"kv_num_heads", 2}});
    return numbers;
  };
  const std::vector<Refused> all = {
      {"MatMulNBits",
       {{"a", x}, {"b", bytes}, {"s", scales}, {"", absent}, {"g", integers({0})}},
       product({}),
       "g_idx"},
      {"MatMulNBits", {{"a", x}, {"b", bytes}, {"s", scales}}, product({{"bits", 3}}), "bits is 3"},
      {"MatMulNBits", {{"a", x}, {"b", bytes}, {"s", scales}}, product({{"weight_prepacked", 1}}), "weight_prepacked"},
      {"MatMulNBits", {{"a", x}, {"b", waves({8, 2, 15}, 1, Type::UInt8)}, {"s", scales}}, product({}), "Input 1"},
      {"MatMulNBits", {{"a", waves({1, 32})}, {"b", bytes}, {"s", scales}}, product({}), "Input 0"},
      {"RotaryEmbedding",
       {{"x", waves({1, 2, 2, 8})}, {"p", integers({0})}, {"c", angles}, {"s", angles}},
       {{"rotary_embedding_dim", 5}, {"num_heads", 2}},
       "5 elements"},
      {"Attention", {{"x", x}, {"w", w}}, {{"num_heads", 2}, {"do_rotary", 1}}, "do_rotary"},
      {"Attention",
       {{"x", x}, {"w", w}},
       {{"num_heads", 2}, {"past_present_share_buffer", 1}},
       "past_present_share_buffer"},
      {"Attention", {{"x", x}, {"w", w}, {"", absent}, {"m", integers({1, 1, 1})}}, {{"num_heads", 2}}, "mask"},
      {"GroupQueryAttention",
       {{"q", q}, {"k", k}, {"v", k}, {"pk", cache}, {"pv", cache}, {"l", last}, {"t", words}},
       grouped({{"qk_output", 1}}),
       "qk_output is 1"},
      {"GroupQueryAttention",
       {{"q", q}, {"k", k}, {"v", k}, {"pk", cache}, {"pv", cache}, {"l", last}, {"t", words}},
       grouped({{"causal", 0}}),
       "causal is 0"},
      {"GroupQueryAttention",
       {{"q", q},
        {"k", k},
        {"v", k},
        {"", absent},
        {"", absent},
        {"l", last},
        {"t", words},
        {"", absent},
        {"", absent},
        {"", absent},
        {"", absent},
        {"", absent},
        {"", absent},
        {"", absent},
        {"n", one},
        {"n2", one}},
       grouped({}),
       "q_norm_weight"},
  };
  for (const Refused& refused : all) {
    CAPTURE(std::string(refused.reason));
    NamedTensors tensors;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : refused.inputs) {
      names.push_back(name);
      if (!name.empty()) tensors[name] = tensor;
    }
    std::string said;
    try {
      runNode(gpu, oneNode(refused.op, tensors, names, {"y"}, refused.numbers), tensors);
    } catch (const onnx::ModelError& error) {
      said = error.what();
    }
    CHECK(said.find(refused.reason) != std::string::npos);
    CHECK(said.find(refused.op) != std::string::npos);
  }
}

}  // namespace
}  // namespace dimple::testing
