// Which products and convolutions of dequantized integers multiply the integers.
#include <doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

using TypeNames = std::vector<std::string>;

// Nodes of which the first inputs take what others make, and the rest inputs of the graph.
struct QuantizedNodes : GraphBuilder {
  UINT node(const std::string& line, const std::vector<UINT>& from) {
    const UINT made = op(line);
    for (UINT i = 0; i < from.size(); ++i) edge(from[i], made, i);
    const Operation& operation = **find()(made, nullptr);
    for (auto i = static_cast<UINT>(from.size()); i < operation.inputs().size(); ++i)
      if (operation.input(i).present()) input(inputs, made, i);
    return made;
  }
  UINT dequantized(std::string_view type, std::string_view sizes, std::string_view scale, std::string_view zero,
                   std::string_view name = "ELEMENT_WISE_DEQUANTIZE_LINEAR") {
    return node(cat(name, " InputTensor=", type, sizes, " ScaleTensor=f32", sizes, scale,
                    zero.empty() ? "" : cat(" ZeroPointTensor=", type, sizes, zero), " OutputTensor=f32", sizes),
                {});
  }
  UINT quantized(UINT x, std::string_view type, std::string_view sizes, std::string_view scale, std::string_view zero) {
    return node(cat("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32", sizes, " ScaleTensor=f32", sizes, scale,
                    zero.empty() ? "" : cat(" ZeroPointTensor=", type, sizes, zero), " OutputTensor=", type, sizes),
                {x});
  }
  TypeNames types(std::string_view without = "", const Caps& caps = capsOfAllMatrices()) const {
    const Graph graph = rewritten({caps, optionsWithout(cat("chains,activations,epilogues,", without))});
    TypeNames found;
    for (const Node& node : graph.nodes())
      if (node.op && !node.runsAtInitialization) found.emplace_back(node.op->schema().name);
    return found;
  }
  std::shared_ptr<const Operation> only() const {
    const Graph graph = rewritten({capsOfAllMatrices(), {}});
    std::shared_ptr<const Operation> found;
    for (const Node& node : graph.nodes()) {
      if (!node.op || node.runsAtInitialization) continue;
      REQUIRE(!found);
      found = node.op;
    }
    REQUIRE(found);
    return found;
  }
};

constexpr std::string_view kOneForAll = "{0,0,0,0}";

// ---- convolutions ---------------------------------------------------------------------------------------------------

struct Convolves {
  std::string x = "u8", filter = "i8", y = "u8";  // types
  std::string xSizes = "[1,32,8,8]", filterSizes = "[32,32,3,3]", ySizes = "[1,32,8,8]";
  std::string xScale{kOneForAll}, xZero{kOneForAll}, filterScale = "{1,0,0,0}", filterZero{}, yScale{kOneForAll},
                                                     yZero{kOneForAll};
  std::string more = " BiasTensor=f32[1,32,1,1]!";
  std::string shape =
      " Mode=CROSS_CORRELATION Direction=FORWARD Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1]"
      " OutputPadding=[0,0] GroupCount=1";
  std::string after{};           // an operator of one input between the convolution and the quantization
  std::string quantizedSizes{};  // as which it is quantized; empty: as it is
  bool quantizes = true;
  bool reads = false;  // the convolution, as an output of the graph, too
  bool readsDequantized = false;
};

QuantizedNodes graphOf(const Convolves& c) {
  QuantizedNodes graph;
  const UINT x = graph.dequantized(c.x, c.xSizes, c.xScale, c.xZero);
  const UINT filter = graph.dequantized(c.filter, c.filterSizes, c.filterScale, c.filterZero);
  const UINT convolved = graph.node(cat("CONVOLUTION InputTensor=f32", c.xSizes, " FilterTensor=f32", c.filterSizes,
                                        c.more, " OutputTensor=f32", c.ySizes, c.shape),
                                    {x, filter});
  UINT last = convolved;
  if (!c.after.empty())
    last = graph.node(cat(c.after, " InputTensor=f32", c.ySizes, " OutputTensor=f32", c.ySizes), {last});
  if (c.quantizes)
    last = graph.quantized(last, c.y, c.quantizedSizes.empty() ? c.ySizes : c.quantizedSizes, c.yScale, c.yZero);
  graph.output(last, 0);
  if (c.reads) graph.output(convolved, 1);
  if (c.readsDequantized) graph.output(x, 1);
  return graph;
}

const TypeNames kQuantizedConvolution{"QUANTIZED_LINEAR_CONVOLUTION"};
bool isOfIntegers(const Convolves& c) {
  const TypeNames types = graphOf(c).types();
  return std::ranges::find(types, kQuantizedConvolution[0]) != types.end();
}

TEST_CASE("quantized: a convolution of dequantized integers") {
  const QuantizedNodes graph = graphOf({.after = "ACTIVATION_RELU"});
  CHECK(graph.types() == kQuantizedConvolution);
  CHECK(graph.types("quantized").size() == 5);
  CHECK(graph.types("", Caps{}).size() == 5);  // no matrices
  const auto op = graph.only();
  CHECK(op->epilogue().steps == (kEpilogueAddsFloats | kEpiloguePositive));
  CHECK(op->epilogue().addend == 9);
  CHECK(op->input(1).elements == 1);
  CHECK(op->input(4).sizes[1] == 32);
  CHECK(op->input(4).strides[1] == 1);
  CHECK(!op->input(5).present());
  CHECK(!op->input(6).present());
  CHECK(op->output().type == DML_TENSOR_DATA_TYPE_UINT8);
  graph.rewrittenPlan("", capsOfAllMatrices());
}

TEST_CASE("quantized: convolutions of other integers") {
  CHECK(graphOf({.x = "i8", .y = "i8", .xZero = "", .filterScale = std::string(kOneForAll), .yZero = "", .more = ""})
            .types() == kQuantizedConvolution);
  CHECK(graphOf({.filter = "u8", .filterZero = "{1,0,0,0}"}).types() == kQuantizedConvolution);
  CHECK(graphOf({.filterScale = std::string(kOneForAll), .filterZero = "{1,0,0,0}"}).types() == kQuantizedConvolution);
  CHECK(graphOf({.more = " FusedActivation=RELU"}).types() == kQuantizedConvolution);
  CHECK(graphOf({.quantizedSizes = "[1,1,32,64]"}).types() == kQuantizedConvolution);
  // What is read elsewhere, too, is still dequantized.
  CHECK(graphOf({.readsDequantized = true}).types() ==
        TypeNames{"ELEMENT_WISE_DEQUANTIZE_LINEAR", kQuantizedConvolution[0]});
  // Windows of one channel each, line by line.
  CHECK(isOfIntegers({.filterSizes = "[32,1,3,3]",
                      .shape = " Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0]"
                               " GroupCount=32 Mode=CROSS_CORRELATION"}));
}

TEST_CASE("quantized: what is such a convolution but for one thing") {
  REQUIRE(isOfIntegers({}));
  CHECK(!isOfIntegers({.xScale = "{0,1,0,0}"}));
  CHECK(!isOfIntegers({.xZero = "{0,0,8,1}"}));
  CHECK(!isOfIntegers({.filterScale = "{0,1,0,0}"}));
  CHECK(!isOfIntegers({.filterScale = "{1,32,0,0}"}));
  CHECK(!isOfIntegers({.filterZero = "{0,0,0,1}"}));
  CHECK(!isOfIntegers({.yScale = "{0,1,0,0}"}));
  CHECK(!isOfIntegers({.yZero = "{0,1,0,0}"}));
  CHECK(!isOfIntegers({.after = "ACTIVATION_SIGMOID"}));
  CHECK(!isOfIntegers({.more = " FusedActivation=SIGMOID"}));
  CHECK(!isOfIntegers({.reads = true}));
  CHECK(!isOfIntegers({.quantizes = false}));
  // More products than INT32 holds.
  CHECK(!isOfIntegers({.xSizes = "[1,4096,8,8]", .filterSizes = "[32,4096,3,3]"}));
  CHECK(!isOfIntegers({.shape = " Mode=CONVOLUTION Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1]"
                                " OutputPadding=[0,0] GroupCount=1"}));
  CHECK(!isOfIntegers({.shape = " Mode=CROSS_CORRELATION Direction=BACKWARD Strides=[1,1] Dilations=[1,1]"
                                " StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1"}));
}

// ---- products -------------------------------------------------------------------------------------------------------

struct Multiplies {
  std::string aSizes = "[2,1,64,32]", bSizes = "[2,1,32,48]", ySizes = "[2,1,64,48]";
  std::string aScale{kOneForAll}, bScale = "{0,0,0,1}", bZero = "{0,0,0,1}";
  std::string aRead{}, bRead{};  // sizes and strides as which the product reads them; empty: as they are made
  std::string cStrides{};        // empty: there is no C
  std::string more = " TransA=NONE TransB=NONE Alpha=1 Beta=1";
  std::string quantized = "u8";  // empty: it is not
};

QuantizedNodes graphOf(const Multiplies& m) {
  QuantizedNodes graph;
  const UINT a = graph.dequantized("u8", m.aSizes, m.aScale, kOneForAll);
  const UINT b = graph.dequantized("i8", m.bSizes, m.bScale, m.bZero);
  UINT last = graph.node(
      cat("GEMM ATensor=f32", m.aRead.empty() ? m.aSizes : m.aRead, " BTensor=f32",
          m.bRead.empty() ? m.bSizes : m.bRead, m.cStrides.empty() ? "" : cat(" CTensor=f32", m.ySizes, m.cStrides),
          " OutputTensor=f32", m.ySizes, m.more),
      {a, b});
  if (!m.quantized.empty()) last = graph.quantized(last, m.quantized, m.ySizes, kOneForAll, kOneForAll);
  graph.output(last, 0);
  return graph;
}

const TypeNames kQuantizedProduct{"QUANTIZED_LINEAR_MATRIX_MULTIPLY"};
const TypeNames kProductToFloat{"MATRIX_MULTIPLY_INTEGER_TO_FLOAT"};

TEST_CASE("quantized: a product of dequantized integers") {
  const QuantizedNodes graph = graphOf(Multiplies{.cStrides = "{0,0,0,1}"});
  CHECK(graph.types() == kQuantizedProduct);
  const auto op = graph.only();
  CHECK(op->epilogue().steps == kEpilogueAddsFloats);
  CHECK(op->input(4).sizes[3] == 48);
  CHECK(op->input(5).strides[3] == 1);
  graph.rewrittenPlan("", capsOfAllMatrices());
  const QuantizedNodes floats = graphOf(Multiplies{.cStrides = "{0,0,0,1}", .quantized = ""});
  CHECK(floats.types() == kProductToFloat);
  CHECK(floats.only()->input(6).present());
  CHECK(floats.only()->epilogue().steps == 0);
}

TEST_CASE("quantized: products of matrices that are read otherwise than they are made") {
  CHECK(graphOf(Multiplies{.bSizes = "[2,1,48,32]",
                           .bScale = "{0,0,1,0}",
                           .bZero = "{0,0,1,0}",
                           .more = " TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"})
            .types() == kQuantizedProduct);
  CHECK(graphOf(Multiplies{.aSizes = "[2,1,32,64]", .more = " TransA=TRANSPOSE TransB=NONE Alpha=1 Beta=0"}).types() ==
        kQuantizedProduct);
  // Columns by which weights are dequantized are those of the product, as a matrix of another rank.
  const std::string columns = "[2,1,32,48]{0,0,48,1}";
  const Multiplies shared{.bSizes = "[1,1,32,48]", .bRead = columns};
  CHECK(graphOf(shared).types() == kQuantizedProduct);
  Multiplies turned = shared;
  turned.bSizes = "[1,1,48,32]";
  turned.bScale = turned.bZero = "{0,0,1,0}";
  turned.bRead = "[2,1,32,48]{0,0,1,32}";
  CHECK(graphOf(turned).types() == kQuantizedProduct);
  // Those of rows that are not the product's columns.
  turned.bScale = turned.bZero = "{0,0,0,1}";
  CHECK(graphOf(turned).types().size() == 4);
  Multiplies mixed = shared;
  mixed.bSizes = "[1,1,48,32]";
  CHECK(graphOf(mixed).types().size() == 4);
}

TEST_CASE("quantized: what is such a product but for one thing") {
  const auto isLeft = [](const Multiplies& m) { return graphOf(m).types().size() == 4; };
  CHECK(isLeft({.aScale = "{0,0,1,0}"}));
  CHECK(isLeft({.bScale = "{0,0,1,0}"}));
  CHECK(isLeft({.bZero = "{1,0,0,0}"}));
  CHECK(isLeft({.more = " TransA=NONE TransB=NONE Alpha=0.5 Beta=1"}));
  CHECK(isLeft({.cStrides = "{0,0,0,1}", .more = " TransA=NONE TransB=NONE Alpha=1 Beta=0.5"}));
  // Matrices of few rows have no kernel of subgroups' matrices.
  CHECK(isLeft({.aSizes = "[2,1,8,32]", .ySizes = "[2,1,8,48]"}));
  CHECK(isLeft({.aSizes = "[1,1,64,40000]", .bSizes = "[1,1,40000,48]", .ySizes = "[1,1,64,48]"}));
}

TEST_CASE("quantized: products of what one node dequantizes, and by blocks") {
  QuantizedNodes square;
  const UINT x = square.dequantized("u8", "[1,1,32,32]", kOneForAll, kOneForAll);
  const UINT product = square.node(
      "GEMM ATensor=f32[1,1,32,32] BTensor=f32[1,1,32,32] OutputTensor=f32[1,1,32,32] TransA=NONE TransB=TRANSPOSE "
      "Alpha=1 Beta=0",
      {x, x});
  square.output(square.quantized(product, "u8", "[1,1,32,32]", kOneForAll, kOneForAll), 0);
  CHECK(square.types() == kQuantizedProduct);

  const auto blocks = [](std::string_view type, std::string_view scale, bool zero) {
    QuantizedNodes graph;
    const auto dequantized = [&](std::string_view sizes) {
      return graph.node(
          cat("DEQUANTIZE InputTensor=", type, "[1,1,32,32] QuantizationType=", zero ? "SCALE_ZERO_POINT" : "SCALE",
              " QuantizationTensors=(f32", sizes, zero ? cat(",", type, sizes) : "", ") OutputTensor=f32[1,1,32,32]"),
          {});
    };
    const UINT a = dequantized("[1,1,1,1]");
    const UINT b = dequantized(scale);
    graph.output(
        graph.node("GEMM ATensor=f32[1,1,32,32] BTensor=f32[1,1,32,32] OutputTensor=f32[1,1,32,32] TransA=NONE "
                   "TransB=NONE Alpha=1 Beta=0",
                   {a, b}),
        0);
    return graph.types() == kProductToFloat;
  };
  CHECK(blocks("i8", "[1,1,1,1]", false));
  CHECK(blocks("u8", "[1,1,1,32]", true));
  CHECK(!blocks("u8", "[1,1,1,32]", false));  // its zero point is 128
  CHECK(!blocks("i8", "[1,1,1,16]", false));
  CHECK(!blocks("i8", "[1,1,2,32]", false));
}

}  // namespace
}  // namespace dimple::testing
