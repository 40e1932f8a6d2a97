// Which products with weights become one, and what becomes of gates.
#include <doctest.h>

#include <string>
#include <vector>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

struct SiblingWeights {
  std::string columns = "64", depth = "64", type = "u4";
  std::string scales = "[1,64,2]";
  std::string zeroPoints{};  // their sizes, and maybe strides
  bool sharedZero = false;   // they are what the first product has
  bool owned = true;
  std::string transform = "Alpha=1 Beta=0";
};

struct Siblings {
  std::vector<SiblingWeights> products = {{}, {.columns = "32", .scales = "[1,32,2]"}};
  std::string rows = "3";
  bool otherRows = false;   // the last one multiplies another matrix
  bool outputRead = false;  // the first one's results are an output of the graph
  bool tiled = false;       // a TILE follows
};

// A function of each product's results follows.
GraphBuilder siblingsOf(const Siblings& siblings) {
  GraphBuilder graph;
  UINT next = 2, firstZero = 0;
  for (size_t i = 0; i < siblings.products.size(); ++i) {
    const SiblingWeights& w = siblings.products[i];
    const std::string all = cat("[1,", w.columns, ",", w.depth, "]");
    const std::string mark = w.owned ? "!" : "";
    const UINT weights = graph.op(cat(
        "DEQUANTIZE InputTensor=", w.type, all, mark,
        " QuantizationType=", w.zeroPoints.empty() ? "SCALE" : "SCALE_ZERO_POINT", " QuantizationTensors=(f16",
        w.scales, mark, w.zeroPoints.empty() ? "" : cat(",", w.type, w.zeroPoints, mark), ") OutputTensor=f16", all));
    graph.input(next++, weights, 0);
    graph.input(next++, weights, 1);
    if (!w.zeroPoints.empty()) {
      if (i == 0) firstZero = next;
      graph.input(w.sharedZero ? firstZero : next++, weights, 2);
    }
    const std::string result = cat("f16[1,", siblings.rows, ",", w.columns, "]");
    const UINT product = graph.op(cat("GEMM ATensor=f16[1,", siblings.rows, ",", w.depth, "] BTensor=f16", all,
                                      " OutputTensor=", result, " TransA=NONE TransB=TRANSPOSE ", w.transform));
    graph.input(siblings.otherRows && i + 1 == siblings.products.size() ? 1 : 0, product);
    graph.edge(weights, product, 1);
    if (siblings.outputRead && i == 0) {
      graph.output(product, static_cast<UINT>(i));
      continue;
    }
    const UINT tile = siblings.tiled ? graph.op(cat("TILE InputTensor=", result, " OutputTensor=f16[2,", siblings.rows,
                                                    ",", w.columns, "] Repeats=[2,1,1]"))
                                     : graph.op(cat("ELEMENT_WISE_EXP InputTensor=", result, " OutputTensor=", result));
    graph.edge(product, tile);
    graph.output(tile, static_cast<UINT>(i));
  }
  return graph;
}

// The operators that execute, in their order.
std::string executedBeside(const GraphBuilder& builder, std::string_view without = "views", const Caps& caps = {}) {
  const Graph graph = builder.rewritten({caps, optionsWithout(without)});
  std::string names;
  for (const Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization) names += cat(names.empty() ? "" : " ", node.op->schema().name);
  return names;
}

const std::string kJoined = "PRODUCT_WITH_WEIGHTS SPLIT ELEMENT_WISE_EXP ELEMENT_WISE_EXP";
const std::string kApart = "PRODUCT_WITH_WEIGHTS ELEMENT_WISE_EXP PRODUCT_WITH_WEIGHTS ELEMENT_WISE_EXP";

SiblingWeights withZeroPoints(const std::string& zeroPoints) { return {.zeroPoints = zeroPoints}; }

TEST_CASE("siblings: products of the same rows become one") {
  CHECK(executedBeside(siblingsOf({})) == kJoined);
  CHECK(executedBeside(siblingsOf({.products = {{}, {}, {}}})) == kJoined + " ELEMENT_WISE_EXP");
  CHECK(executedBeside(siblingsOf({.products = {{.type = "i8"}, {.type = "i8"}}})) == kJoined);
  CHECK(executedBeside(siblingsOf({.products = {withZeroPoints("[1,64,2]"), withZeroPoints("[1,64,2]")}})) == kJoined);
  // Zero points that all read the same element.
  SiblingWeights zero = withZeroPoints("[1,64,2]{0,0,0}");
  zero.sharedZero = true;
  CHECK(executedBeside(siblingsOf({.products = {zero, zero}})) == kJoined);
}

TEST_CASE("siblings: results are read where they lie, and weights are kept once") {
  const Plan joined = siblingsOf({}).rewrittenPlan().plan;
  const Plan apart = siblingsOf({}).rewrittenPlan("siblings").plan;
  CHECK(joined.execution.size() == 3);
  CHECK(apart.execution.size() == 4);
  CHECK(joined.persistentBytes <= apart.persistentBytes);
}

TEST_CASE("siblings: what stays apart") {
  const auto isApart = [](const Siblings& siblings) { CHECK(executedBeside(siblingsOf(siblings)) == kApart); };
  isApart({.otherRows = true});
  // A TILE would have to be given rows that follow each other.
  const std::string tiles = "PRODUCT_WITH_WEIGHTS TILE PRODUCT_WITH_WEIGHTS TILE";
  CHECK(executedBeside(siblingsOf({.tiled = true})) == tiles);
  CHECK(executedBeside(siblingsOf({.rows = "1", .tiled = true})) == "PRODUCT_WITH_WEIGHTS SPLIT TILE TILE");
  CHECK(executedBeside(siblingsOf({.outputRead = true})) ==
        "PRODUCT_WITH_WEIGHTS PRODUCT_WITH_WEIGHTS ELEMENT_WISE_EXP");
  CHECK(executedBeside(siblingsOf({}), "views,siblings") == kApart);
  CHECK(executedBeside(siblingsOf({}), "views,constants") == kApart);
  const SiblingWeights given{.owned = false};
  isApart({.products = {given, given}});
  isApart({.products = {{}, given}});
  isApart({.products = {{}, {.type = "u8"}}});
  isApart({.products = {{}, {.scales = "[1,64,4]"}}});
  isApart({.products = {{}, {.transform = "Alpha=2 Beta=0"}}});
  isApart({.products = {{}, {.transform = "Alpha=1 Beta=0 FusedActivation=RELU"}}});
  isApart({.products = {{}, withZeroPoints("[1,64,2]")}});
  // One scale for all columns, which others have not.
  isApart({.products = {{.scales = "[1,1,1]"}, {.scales = "[1,1,1]"}}});
  // The second part would begin where nothing can be bound.
  const SiblingWeights few{.columns = "12", .scales = "[1,12,2]"};
  isApart({.products = {few, few}});
  // Different elements that each serve all columns.
  const SiblingWeights zero = withZeroPoints("[1,64,2]{0,0,0}");
  isApart({.products = {zero, zero}});
  // Zero points that are no whole number of bytes.
  const SiblingWeights odd{.columns = "8", .depth = "32", .scales = "[1,8,1]", .zeroPoints = "[1,8,1]"};
  CHECK(executedBeside(siblingsOf({.products = {odd, odd}})) == kJoined);
}

// ---- gates ----

struct Gate {
  std::string rows = "1";
  bool factorFirst = false, swapped = false, sigmoidOfFactor = false, read = false;
  std::string silu = "ELEMENT_WISE_MULTIPLY", last = "ELEMENT_WISE_MULTIPLY", activation = "ACTIVATION_SIGMOID";
};

std::string gatedBy(const Gate& gate, std::string_view without = "chains,views", const Caps& caps = {}) {
  GraphBuilder graph;
  UINT products[2];
  for (UINT i = 0; i < 2; ++i) {
    const UINT weights = graph.op(
        "DEQUANTIZE InputTensor=u4[1,64,64]! QuantizationType=SCALE QuantizationTensors=(f16[1,64,2]!) "
        "OutputTensor=f16[1,64,64]");
    graph.input(1 + 2 * i, weights, 0);
    graph.input(2 + 2 * i, weights, 1);
    products[i] = graph.op(cat("GEMM ATensor=f16[1,", gate.rows, ",64] BTensor=f16[1,64,64] OutputTensor=f16[1,",
                               gate.rows, ",64] TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"));
    graph.input(0, products[i]);
    graph.edge(weights, products[i], 1);
  }
  const std::string tensor = cat("f16[1,", gate.rows, ",64]");
  const UINT first = products[gate.factorFirst ? 1 : 0], factor = products[gate.factorFirst ? 0 : 1];
  const auto binary = [&](const std::string& name, UINT a, UINT b) {
    const UINT node = graph.op(cat(name, " ATensor=", tensor, " BTensor=", tensor, " OutputTensor=", tensor));
    graph.edge(gate.swapped ? b : a, node, 0);
    graph.edge(gate.swapped ? a : b, node, 1);
    return node;
  };
  const UINT sigmoid = graph.op(cat(gate.activation, " InputTensor=", tensor, " OutputTensor=", tensor));
  graph.edge(gate.sigmoidOfFactor ? factor : first, sigmoid);
  const UINT silu = binary(gate.silu, first, sigmoid);
  const UINT result = binary(gate.last, silu, factor);
  graph.output(result, 0);
  if (gate.read) graph.output(silu, 1);
  return executedBeside(graph, without, caps);
}

TEST_CASE("siblings: gates are applied where the product's results are stored") {
  const std::string one = "PRODUCT_WITH_WEIGHTS";
  CHECK(gatedBy({}) == one);
  CHECK(gatedBy({.rows = "5"}) == one);
  CHECK(gatedBy({.factorFirst = true}) == one);
  CHECK(gatedBy({.swapped = true}) == one);
  CHECK(gatedBy({.factorFirst = true, .swapped = true}) == one);
}

// A product whose halves the graph splits itself.
std::string gatedBySplit(const std::string& rows, const std::string& parts, const std::string& axis = "2",
                         bool readWhole = false) {
  GraphBuilder graph;
  const UINT weights = graph.op(
      "DEQUANTIZE InputTensor=u4[1,128,64] QuantizationType=SCALE QuantizationTensors=(f16[1,128,2]) "
      "OutputTensor=f16[1,128,64]");
  graph.input(1, weights, 0);
  graph.input(2, weights, 1);
  const UINT product = graph.op(cat("GEMM ATensor=f16[1,", rows, ",64] BTensor=f16[1,128,64] OutputTensor=f16[1,", rows,
                                    ",128] TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"));
  graph.input(0, product);
  graph.edge(weights, product, 1);
  const std::string part = cat("f16[", parts, "]");
  const UINT split =
      graph.op(cat("SPLIT InputTensor=f16[1,", rows, ",128] OutputTensors=(", part, ",", part, ") Axis=", axis));
  graph.edge(product, split);
  const UINT sigmoid = graph.op(cat("ACTIVATION_SIGMOID InputTensor=", part, " OutputTensor=", part));
  graph.edge(split, sigmoid);
  const auto times = [&](UINT a, UINT b, UINT outputOfB) {
    const UINT node = graph.op(cat("ELEMENT_WISE_MULTIPLY ATensor=", part, " BTensor=", part, " OutputTensor=", part));
    graph.edge(a, node, 0);
    graph.edge(b, node, 1, outputOfB);
    return node;
  };
  graph.output(times(times(sigmoid, split, 0), split, 1), 0);
  if (readWhole) graph.output(product, 1);
  return executedBeside(graph, "chains,views");
}

TEST_CASE("siblings: gates of halves that the graph splits") {
  const std::string nodes = "PRODUCT_WITH_WEIGHTS SPLIT ACTIVATION_SIGMOID ELEMENT_WISE_MULTIPLY ELEMENT_WISE_MULTIPLY";
  CHECK(gatedBySplit("1", "1,1,64") == "PRODUCT_WITH_WEIGHTS");
  CHECK(gatedBySplit("3", "1,3,64") == "PRODUCT_WITH_WEIGHTS");
  CHECK(gatedBySplit("2", "1,1,128", "1") == nodes);
  CHECK(gatedBySplit("1", "1,1,64", "2", true) == nodes);
}

// ---- products of floats ----

struct Floats {
  std::string columns = "64", transform = "TransA=NONE TransB=NONE Alpha=1 Beta=1", bias = "{0,0,1}";
  bool owned = true, biasOwned = true;
};

// What reads a product: a function of its elements, a copy of the whole, or a product of two heads or of the whole.
enum class Reader { Exp, Tile, Heads, Whole };

std::string readerOf(Reader reader, const std::string& result, const std::string& rows, const std::string& columns) {
  switch (reader) {
    case Reader::Exp:
      return cat("ELEMENT_WISE_EXP InputTensor=", result, " OutputTensor=", result);
    case Reader::Tile:
      return cat("TILE InputTensor=", result, " OutputTensor=f16[2,", rows, ",", columns, "] Repeats=[2,1,1]");
    case Reader::Heads:
      return cat("GEMM ATensor=f16[2,", rows, ",32]{32,64,1} BTensor=f16[2,32,8] OutputTensor=f16[2,", rows, ",8]",
                 " TransA=NONE TransB=NONE Alpha=1 Beta=0");
    case Reader::Whole:
      return cat("GEMM ATensor=", result, " BTensor=f16[1,", columns, ",8] OutputTensor=f16[1,", rows, ",8]",
                 " TransA=NONE TransB=NONE Alpha=1 Beta=0");
  }
  return {};
}

std::string executedOf(const std::vector<Floats>& products, const std::string& rows = "3",
                       Reader reader = Reader::Exp) {
  GraphBuilder graph;
  UINT next = 1;
  for (UINT i = 0; i < products.size(); ++i) {
    const Floats& p = products[i];
    const bool across = p.transform.find("TransB=NONE") != std::string::npos;
    const std::string result = cat("f16[1,", rows, ",", p.columns, "]");
    const std::string b = across ? cat("f16[1,32,", p.columns, "]") : cat("f16[1,", p.columns, ",32]");
    const UINT product = graph.op(cat("GEMM ATensor=f16[1,", rows, ",32] BTensor=", b, p.owned ? "!" : "",
                                      p.bias.empty() ? "" : cat(" CTensor=", result, p.bias, p.biasOwned ? "!" : ""),
                                      " OutputTensor=", result, " ", p.transform));
    graph.input(0, product);
    graph.input(next++, product, 1);
    if (!p.bias.empty()) graph.input(next++, product, 2);
    const UINT last = graph.op(readerOf(reader, result, rows, p.columns));
    if (reader == Reader::Heads || reader == Reader::Whole) graph.input(next++, last, 1);
    graph.edge(product, last);
    graph.output(last, i);
  }
  return executedBeside(graph);
}

TEST_CASE("siblings: products of floats with weights that are known become one") {
  const std::string joined = "GEMM SPLIT ELEMENT_WISE_EXP ELEMENT_WISE_EXP";
  const std::string apart = "GEMM ELEMENT_WISE_EXP GEMM ELEMENT_WISE_EXP";
  const std::string transposed = "TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=1";
  CHECK(executedOf({{}, {.columns = "32"}}) == joined);
  CHECK(executedOf({{.bias = ""}, {.bias = ""}}) == joined);
  CHECK(executedOf({{.transform = transposed}, {.columns = "32", .transform = transposed}}) == joined);
  CHECK(executedOf({{.bias = "{0,64,1}"}, {.bias = "{0,64,1}"}}) == joined);
  CHECK(executedOf({{.owned = false}, {}}) == apart);
  CHECK(executedOf({{.biasOwned = false}, {}}) == apart);
  CHECK(executedOf({{.bias = ""}, {}}) == apart);
  CHECK(executedOf({{.bias = "{0,64,1}"}, {}}) == apart);
  CHECK(executedOf({{.transform = transposed}, {}}) == apart);
  CHECK(executedOf({{.transform = "TransA=NONE TransB=NONE Alpha=2 Beta=1"}, {}}) == apart);
  CHECK(executedOf({{.transform = "TransA=NONE TransB=NONE Alpha=1 Beta=2"}, {}}) == apart);
  CHECK(executedOf({{.transform = "TransA=NONE TransB=NONE Alpha=1 Beta=1 FusedActivation=RELU"}, {}}) == apart);
  CHECK(executedOf({{.columns = "12"}, {.columns = "12"}}) == apart);
  CHECK(executedOf({{}, {}}, "3", Reader::Tile) == "GEMM TILE GEMM TILE");
  CHECK(executedOf({{}, {}}, "1", Reader::Tile) == "GEMM SPLIT TILE TILE");
  CHECK(executedOf({{}, {}}, "3", Reader::Heads) == "GEMM SPLIT GEMM GEMM");
  CHECK(executedOf({{}, {}}, "3", Reader::Whole) == "GEMM GEMM GEMM GEMM");
}

TEST_CASE("siblings: gates that stay nodes") {
  const std::string nodes = "PRODUCT_WITH_WEIGHTS SPLIT ACTIVATION_SIGMOID ELEMENT_WISE_MULTIPLY ELEMENT_WISE_MULTIPLY";
  CHECK(gatedBy({.read = true}) == nodes);
  CHECK(gatedBy({.sigmoidOfFactor = true}) == nodes);
  CHECK(gatedBy({.silu = "ELEMENT_WISE_ADD"}) ==
        "PRODUCT_WITH_WEIGHTS SPLIT ACTIVATION_SIGMOID ELEMENT_WISE_ADD ELEMENT_WISE_MULTIPLY");
  CHECK(gatedBy({.last = "ELEMENT_WISE_SUBTRACT"}) ==
        "PRODUCT_WITH_WEIGHTS SPLIT ACTIVATION_SIGMOID ELEMENT_WISE_MULTIPLY ELEMENT_WISE_SUBTRACT");
  CHECK(gatedBy({.activation = "ACTIVATION_TANH"}) ==
        "PRODUCT_WITH_WEIGHTS SPLIT ACTIVATION_TANH ELEMENT_WISE_MULTIPLY ELEMENT_WISE_MULTIPLY");
}

}  // namespace
}  // namespace dimple::testing
