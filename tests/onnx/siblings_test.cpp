// Products of the same rows that become one where weights are bound.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "clients/onnx/siblings.h"
#include "clients/onnx/text.h"
#include "tests/gpu_test.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"

namespace dimple::testing {
namespace {

using onnx::cat;
using onnx::HostTensor;
using onnx::Type;
using Names = std::vector<std::string>;

struct SiblingProduct {
  int64_t columns = 32, depth = 64, block = 32, bits = 4;
  bool zeroPoints = false, bias = false;
  std::string rows = "x";
  Type type = Type::Float;
};

HostTensor wavesOf(const onnx::Sizes& sizes, double seed, Type type = Type::Float) {
  HostTensor tensor(type, sizes);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i)
    if (onnx::isFloat(type))
      tensor.setReal(i, std::sin(static_cast<double>(i) * 1.3 + seed));
    else
      tensor.setInteger(i, static_cast<int64_t>(static_cast<double>(i) * 37 + seed * 11) % 251);
  return tensor;
}

// Products whose results are "y0", "y1" and so on, outputs of a model of any number of rows; `first` is the number of
// the first one.
ModelMaker productsOf(const std::vector<SiblingProduct>& products, size_t first = 0) {
  ModelMaker maker(17);
  auto& import = *maker.proto().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  maker.input("x", products[0].type, {-1, products[0].depth});
  for (size_t i = first; i < first + products.size(); ++i) {
    const SiblingProduct& p = products[i - first];
    const int64_t blocks = (p.depth + p.block - 1) / p.block;
    const auto seed = static_cast<double>(i + 1);
    const auto constant = [&](const char* name, const HostTensor& tensor) {
      maker.initializer(cat(name, i), tensor);
      return cat(name, i);
    };
    Names inputs{p.rows,
                 constant("b", wavesOf({p.columns, blocks, p.block * p.bits / 8}, seed, Type::UInt8)),
                 constant("s", wavesOf({p.columns, blocks}, seed, p.type)),
                 "",
                 "",
                 ""};
    if (p.zeroPoints) inputs[3] = constant("z", wavesOf({p.columns, (blocks * p.bits + 7) / 8}, seed + 1, Type::UInt8));
    if (p.bias) inputs[5] = constant("c", wavesOf({p.columns}, seed + 2, p.type));
    auto& node = maker.node("MatMulNBits", inputs, {cat("y", i)});
    node.set_domain("com.microsoft");
    node.set_name(cat("product", i));
    setAttribute(node, "K", p.depth);
    setAttribute(node, "N", p.columns);
    setAttribute(node, "bits", p.bits);
    setAttribute(node, "block_size", p.block);
    maker.output(cat("y", i));
  }
  return maker;
}

Names operatorsOf(onnx::Model model) {
  model.joinProducts();
  Names names;
  for (const onnx::Node& node : model.nodes()) names.push_back(node.opType);
  return names;
}

Names operatorsOf(const std::vector<SiblingProduct>& products) { return operatorsOf(productsOf(products).model()); }

TEST_CASE("onnx siblings: products of the same rows are one, whatever they add") {
  const Names one{"MatMulNBits", "Split"};
  CHECK(operatorsOf({{}, {}}) == one);
  CHECK(operatorsOf({{}, {.columns = 16, .zeroPoints = true}, {.columns = 48, .bias = true}}) == one);
  // Two and two.
  CHECK(operatorsOf({{}, {.bits = 8}, {}, {.bits = 8}}) == Names{"MatMulNBits", "Split", "MatMulNBits", "Split"});
}

TEST_CASE("onnx siblings: weights are kept as parts, and leave the initializers") {
  onnx::Model model = productsOf({{}, {.columns = 16, .zeroPoints = true}}).model();
  const onnx::JoinedTensors joined = model.joinProducts();
  CHECK(joined.size() == 3);
  const auto& node = model.nodes()[0];
  CHECK(node.text() == "node \"product0 beside product1\" (com.microsoft.MatMulNBits)");
  CHECK(joined.at(node.inputs[1]).sizes == onnx::Sizes{48, 2, 16});
  CHECK(joined.at(node.inputs[2]).sizes == onnx::Sizes{48, 2});
  const HostTensor zeros = joined.at(node.inputs[3]).value();
  CHECK(zeros.sizes == onnx::Sizes{48, 1});
  // The first one has none.
  CHECK(zeros.integer(31) == 0x88);
  CHECK(zeros.integer(32) == wavesOf({1}, 3, Type::UInt8).integer(0));
  Names names;
  for (const auto& [name, tensor] : model.initializers()) names.push_back(name);
  CHECK(names == Names{"/siblings/y0/columns"});
}

TEST_CASE("onnx siblings: what stays apart") {
  const Names two{"MatMulNBits", "MatMulNBits"};
  CHECK(operatorsOf({{}, {.depth = 32}}) == two);
  CHECK(operatorsOf({{}, {.block = 16}}) == two);
  CHECK(operatorsOf({{}, {.bits = 8}}) == two);
  CHECK(operatorsOf({{}, {.type = Type::Float16}}) == two);
  // A part that begins where no device may be able to bind it.
  CHECK(operatorsOf({{.columns = 12}, {.columns = 12}}) == two);
  CHECK(operatorsOf({{}, {.rows = "y0"}}) == two);
  const auto changed = [](auto change) {
    ModelMaker maker = productsOf({{}, {}});
    change(maker, *maker.proto().mutable_graph()->mutable_node(1));
    return operatorsOf(maker.model());
  };
  CHECK(changed([](ModelMaker&, auto& node) { node.set_input(1, "b0"); }) == two);
  CHECK(changed([](ModelMaker& maker, auto&) { maker.output("b1"); }) == two);
  CHECK(changed([](ModelMaker& maker, auto& node) {
          maker.input("given", Type::Float, {32, 2});
          node.set_input(2, "given");
        }) == two);
  CHECK(changed([](ModelMaker& maker, auto& node) {
          maker.initializer("order", onnx::integerTensor(Type::Int32, std::vector<int64_t>(64)));
          node.set_input(4, "order");
        }) == two);
  // What is wrong is refused where it is mapped.
  CHECK(changed([](ModelMaker&, auto& node) { node.mutable_attribute(0)->set_i(96); }) == two);
  CHECK(changed([](ModelMaker&, auto& node) { node.mutable_attribute(3)->set_i(0); }) == two);
  CHECK(changed([](ModelMaker&, auto& node) { node.mutable_attribute(0)->set_type(::onnx::AttributeProto::FLOAT); }) ==
        two);
}

// Products with weights of floats, whose results are "y0" and so on.
struct FloatProduct {
  int64_t columns = 32, depth = 24;
  bool bias = false;
  bool gemm = false, turned = false;
  Type type = Type::Float;
};

ModelMaker floatProductsOf(const std::vector<FloatProduct>& products, size_t first = 0) {
  ModelMaker maker(17);
  maker.input("x", products[0].type, {-1, products[0].depth});
  for (size_t i = first; i < first + products.size(); ++i) {
    const FloatProduct& p = products[i - first];
    const auto constant = [&](const char* name, const HostTensor& tensor) {
      maker.initializer(cat(name, i), tensor);
      return cat(name, i);
    };
    const onnx::Sizes sizes = p.turned ? onnx::Sizes{p.columns, p.depth} : onnx::Sizes{p.depth, p.columns};
    Names inputs{"x", constant("b", wavesOf(sizes, static_cast<double>(i) + 1, p.type))};
    const std::string bias = p.bias ? constant("c", wavesOf({p.columns}, static_cast<double>(i) + 2, p.type)) : "";
    if (p.gemm && p.bias) inputs.push_back(bias);
    const bool sums = p.bias && !p.gemm;
    auto& node = maker.node(p.gemm ? "Gemm" : "MatMul", inputs, {cat(sums ? "p" : "y", i)});
    node.set_name(cat("product", i));
    if (p.turned) setAttribute(node, "transB", 1);
    if (sums) maker.node("Add", i % 2 == 0 ? Names{cat("p", i), bias} : Names{bias, cat("p", i)}, {cat("y", i)});
    maker.output(cat("y", i));
  }
  return maker;
}

Names operatorsOf(const std::vector<FloatProduct>& products) { return operatorsOf(floatProductsOf(products).model()); }

TEST_CASE("onnx siblings: products with weights of floats are one, with their biases") {
  CHECK(operatorsOf(std::vector<FloatProduct>{{}, {.columns = 16}}) == Names{"MatMul", "Split"});
  CHECK(operatorsOf(std::vector<FloatProduct>{{.bias = true}, {.columns = 16, .bias = true}}) ==
        Names{"MatMul", "Add", "Split"});
  CHECK(operatorsOf(std::vector<FloatProduct>{{.bias = true, .gemm = true}, {.bias = true, .gemm = true}}) ==
        Names{"Gemm", "Split"});
  onnx::Model model = floatProductsOf({{.bias = true}, {.columns = 16, .bias = true}}).model();
  const onnx::JoinedTensors joined = model.joinProducts();
  CHECK(model.nodes()[0].text() == "node \"product0 beside product1\" (MatMul)");
  CHECK(joined.size() == 1);
  const HostTensor weights = joined.at(model.nodes()[0].inputs[1]).value();
  CHECK(weights.sizes == onnx::Sizes{24, 48});
  // The second row of the second one.
  CHECK(weights.real(48 + 32) == wavesOf({24, 16}, 2).real(16));
  Names names;
  for (const auto& [name, tensor] : model.initializers()) names.push_back(name);
  CHECK(names == Names{"/siblings/y0/bias", "/siblings/y0/columns"});
}

TEST_CASE("onnx siblings: what of floats stays apart") {
  const Names two{"MatMul", "MatMul"};
  CHECK(operatorsOf(std::vector<FloatProduct>{{}, {.type = Type::Float16}}) == two);
  CHECK(operatorsOf(std::vector<FloatProduct>{{}, {.depth = 16}}) == two);
  CHECK(operatorsOf(std::vector<FloatProduct>{{.columns = 12}, {.columns = 12}}) == two);
  CHECK(operatorsOf(std::vector<FloatProduct>{{.bias = true}, {}}) == Names{"MatMul", "Add", "MatMul"});
  CHECK(operatorsOf(std::vector<FloatProduct>{{.gemm = true}, {.gemm = true, .turned = true}}) ==
        Names{"Gemm", "Gemm"});
  const auto changed = [](bool gemm, auto change) {
    ModelMaker maker = floatProductsOf({{.gemm = gemm}, {.gemm = gemm}});
    change(maker, *maker.proto().mutable_graph()->mutable_node(1));
    return operatorsOf(maker.model());
  };
  CHECK(changed(false, [](ModelMaker&, auto& node) { node.set_input(0, "y0"); }) == two);
  CHECK(changed(false, [](ModelMaker&, auto& node) { node.set_input(1, "b0"); }) == two);
  CHECK(changed(false, [](ModelMaker& maker, auto&) { maker.output("b1"); }) == two);
  for (const char* name : {"alpha", "beta"})
    CHECK(changed(true, [&](ModelMaker&, auto& node) {
            auto& attribute = *node.add_attribute();
            attribute.set_name(name);
            attribute.set_type(::onnx::AttributeProto::FLOAT);
            attribute.set_f(0.5F);
          }) == Names{"Gemm", "Gemm"});
  CHECK(changed(true, [](ModelMaker&, auto& node) { setAttribute(node, "transA", 1); }) == Names{"Gemm", "Gemm"});
  // A sum that others read, too, is no part of the product.
  ModelMaker maker = floatProductsOf({{.bias = true}, {.bias = true}});
  maker.output("p1");
  CHECK(operatorsOf(maker.model()) == Names{"MatMul", "Add", "MatMul", "Add"});
}

// The products that graphs have.
class Products final : public onnx::GraphObserver {
 public:
  void created(IDMLOperator&, const DML_OPERATOR_DESC& desc) override { count += desc.Type == DML_OPERATOR_GEMM; }
  void compiling(const DML_GRAPH_DESC&, const std::vector<std::string>&) override {}

  int count = 0;
};

GPU_TEST_CASE("onnx siblings: results are those of the products") {
  for (const int64_t bits : {4, 8})
    for (const int64_t rows : {1, 3, 40})
      for (const bool bias : {false, true}) {
        std::vector<SiblingProduct> products{
            {.bits = bits}, {.columns = 16, .bits = bits, .zeroPoints = true}, {.columns = 48, .bits = bits}};
        products[2].bias = bias;
        for (SiblingProduct& product : products) product.depth = 96;
        const std::map<std::string, HostTensor> inputs{{"x", wavesOf({rows, 96}, 0)}};
        Products joined;
        const onnx::Model model = productsOf(products).model();
        const auto results = onnx::Session(gpu.context(), model, {.observer = &joined}).run(inputs);
        CHECK(joined.count == 1);
        for (size_t i = 0; i < products.size(); ++i) {
          const onnx::Model alone = productsOf({products[i]}, i).model();
          const auto expected = onnx::Session(gpu.context(), alone).run(inputs);
          CHECK(compareTensors(results[i].tensor, expected[0].tensor, {1e-4, 1e-3}) == "");
        }
      }
}

GPU_TEST_CASE("onnx siblings: results of floats are those of the products") {
  for (const bool gemm : {false, true})
    for (const bool bias : {false, true})
      for (const Type type : {Type::Float, Type::Float16}) {
        std::vector<FloatProduct> products(3, {.bias = bias, .gemm = gemm, .turned = gemm && bias, .type = type});
        products[1].columns = 64;
        const std::map<std::string, HostTensor> inputs{{"x", wavesOf({5, 24}, 0, type)}};
        Products joined;
        const onnx::Model model = floatProductsOf(products).model();
        const auto results = onnx::Session(gpu.context(), model, {.observer = &joined}).run(inputs);
        CHECK(joined.count == 1);
        for (size_t i = 0; i < products.size(); ++i) {
          const onnx::Model alone = floatProductsOf({products[i]}, i).model();
          const auto expected = onnx::Session(gpu.context(), alone).run(inputs);
          const double bound = type == Type::Float ? 1e-4 : 1e-2;
          CHECK(compareTensors(results[i].tensor, expected[0].tensor, {bound, bound}) == "");
        }
      }
}

}  // namespace
}  // namespace dimple::testing
