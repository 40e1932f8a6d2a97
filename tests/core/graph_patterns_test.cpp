// Which nodes become the operator that they spell out.
#include <doctest.h>

#include <cmath>
#include <deque>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

// A graph in which each node takes what others make, constants of one number, or inputs of its own.
struct Spelled : GraphBuilder {
  static constexpr int kInput = -1;

  UINT number(float value) {
    numbers.push_back(value);
    return constant(&numbers.back(), sizeof(float));
  }
  UINT node(const std::string& line, const std::vector<int>& from) {
    const UINT made = op(line);
    for (UINT i = 0; i < from.size(); ++i) {
      if (from[i] == kInput)
        input(inputs, made, i);
      else
        edge(static_cast<UINT>(from[i]), made, i);
    }
    return made;
  }
  int two(std::string_view name, int a, int b, std::string_view stridesOfB = "",
          std::string_view sizes = "f32[2,6,8]") {
    return static_cast<int>(
        node(cat("ELEMENT_WISE_", name, " ATensor=", sizes, " BTensor=", sizes, stridesOfB, " OutputTensor=", sizes),
             {a, b}));
  }
  int one(std::string_view name, int x, std::string_view sizes = "f32[2,6,8]") {
    return static_cast<int>(node(cat(name, " InputTensor=", sizes, " OutputTensor=", sizes), {x}));
  }
  // The types of the operators that execute, without activations that products fuse.
  std::vector<std::string> types(const Caps& caps = {}, std::string_view without = "") const {
    const Graph graph = rewritten({caps, optionsWithout(cat("chains,activations,", without))});
    std::vector<std::string> found;
    for (const Node& node : graph.nodes())
      if (node.op && !node.runsAtInitialization) found.emplace_back(node.op->schema().name);
    return found;
  }
  std::shared_ptr<const Operation> only(const Caps& caps = {}) const {
    const Graph graph = rewritten({caps, optionsWithout("chains")});
    std::shared_ptr<const Operation> found;
    for (const Node& node : graph.nodes()) {
      if (!node.op || node.runsAtInitialization) continue;
      REQUIRE(!found);
      found = node.op;
    }
    return found;
  }

  std::deque<float> numbers;
};

using Types = std::vector<std::string>;

// ---- layer normalization --------------------------------------------------------------------------------------------

struct Normalized {
  std::string function = "AVERAGE";  // of the squares
  std::string root = "f32[2,6,1]";   // what the root makes
  float exponent = 2;
  bool multiplies = false;  // a square is a product
  bool readsMeanTwice = false;
  bool readsSquare = false;  // as an output of the graph, too
  std::string scale = "{0,0,1}";
  bool epsilonFirst = false;
};

Spelled normalization(const Normalized& n = {}) {
  Spelled graph;
  const auto mean = [&](int x, const std::string& function) {
    return static_cast<int>(
        graph.node(cat("REDUCE Function=", function, " InputTensor=f32[2,6,8] OutputTensor=f32[2,6,1] Axes=[2]"), {x}));
  };
  const int x = graph.one("ELEMENT_WISE_ABS", Spelled::kInput);
  const int first = mean(x, "AVERAGE");
  const int centred = graph.two("SUBTRACT", x, first, "{6,1,0}");
  int square = 0;
  if (n.multiplies) {
    square = graph.two("MULTIPLY", centred, centred);
  } else {
    const int exponent = static_cast<int>(graph.number(n.exponent));
    square = static_cast<int>(
        graph.node("ELEMENT_WISE_POW InputTensor=f32[2,6,8] ExponentTensor=f32[2,6,8]{0,0,0} OutputTensor=f32[2,6,8]",
                   {centred, exponent}));
  }
  const int variance = mean(square, n.function);
  const int epsilon = static_cast<int>(graph.number(0.25f));
  const int sum = n.epsilonFirst
                      ? static_cast<int>(graph.node(
                            "ELEMENT_WISE_ADD ATensor=f32[2,6,1]{0,0,0} BTensor=f32[2,6,1] OutputTensor=f32[2,6,1]",
                            {epsilon, variance}))
                      : graph.two("ADD", variance, epsilon, "{0,0,0}", "f32[2,6,1]");
  const int root =
      static_cast<int>(graph.node(cat("ELEMENT_WISE_SQRT InputTensor=f32[2,6,1] OutputTensor=", n.root), {sum}));
  const int normal = graph.two("DIVIDE", centred, root, "{6,1,0}");
  const int scaled = graph.two("MULTIPLY", normal, Spelled::kInput, n.scale);
  graph.output(static_cast<UINT>(graph.two("ADD", scaled, Spelled::kInput, "{0,0,1}")), 0);
  if (n.readsSquare) graph.output(static_cast<UINT>(square), 1);
  if (n.readsMeanTwice) graph.output(static_cast<UINT>(first), 1);
  return graph;
}

const Types kWholeNormalization{"ELEMENT_WISE_ABS", "MEAN_VARIANCE_NORMALIZATION2"};

TEST_CASE("patterns: a layer normalization") {
  const Spelled graph = normalization();
  CHECK(graph.types() == kWholeNormalization);
  CHECK(graph.types({}, "patterns").size() == 10);
  const Graph rewritten = graph.rewritten({{}, optionsWithout("chains")});
  const Operation& op = *rewritten.nodes().back().op;
  const auto& desc = op.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>();
  CHECK(desc.Epsilon == 0.25f);
  CHECK(desc.UseMean);
  CHECK(desc.UseVariance);
  REQUIRE(desc.AxisCount == 1);
  CHECK(desc.Axes[0] == 2);
  CHECK(op.input(1).strides[2] == 1);
  CHECK(op.input(2).present());
  graph.rewrittenPlan();
}

TEST_CASE("patterns: other ways to spell a layer normalization") {
  CHECK(normalization({.multiplies = true}).types() == kWholeNormalization);
  CHECK(normalization({.epsilonFirst = true}).types() == kWholeNormalization);
}

TEST_CASE("patterns: what is a layer normalization but for one thing") {
  const auto isLeft = [](const Normalized& n) { return normalization(n).types().size() == 10; };
  CHECK(isLeft({.exponent = 3}));
  CHECK(isLeft({.exponent = std::nextafter(2.0f, 3.0f)}));
  CHECK(isLeft({.function = "SUM"}));
  CHECK(isLeft({.root = "f32[2,6,1]{1,2,1}"}));
  CHECK(isLeft({.readsSquare = true}));
  // A scale of each row follows it.
  CHECK(normalization({.scale = "{6,1,0}"}).types() ==
        Types{"ELEMENT_WISE_ABS", "MEAN_VARIANCE_NORMALIZATION2", "ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_ADD"});
}

TEST_CASE("patterns: differences to a mean that is read again are normalized without one") {
  const Graph rewritten = normalization({.readsMeanTwice = true}).rewritten({{}, optionsWithout("chains")});
  const Operation& op = *rewritten.nodes().back().op;
  REQUIRE(op.schema().type == DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2);
  CHECK_FALSE(op.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>().UseMean);
  CHECK(op.as<DML_MEAN_VARIANCE_NORMALIZATION2_OPERATOR_DESC>().UseVariance);
}

// ---- GELU -----------------------------------------------------------------------------------------------------------

struct GeluSpelled {
  float divisor = 1.41421356f;
  float addend = 1;
  float half = 0.5f;
  enum Order { Exporter, HalfFirst, HalfOfX } order = Exporter;
  bool multiplies = false;
  bool otherX = false;
};

Spelled gelu(const GeluSpelled& g = {}) {
  Spelled graph;
  constexpr std::string_view kNumber = "{0,0,0}";
  const int x = graph.one("ELEMENT_WISE_ABS", Spelled::kInput);
  const int other = g.otherX ? graph.one("ELEMENT_WISE_NEGATE", x) : x;
  const int divisor = static_cast<int>(graph.number(g.multiplies ? 1 / g.divisor : g.divisor));
  const int argument = graph.two(g.multiplies ? "MULTIPLY" : "DIVIDE", x, divisor, kNumber);
  const int error = graph.one("ELEMENT_WISE_ERF", argument);
  const int sum = graph.two("ADD", error, static_cast<int>(graph.number(g.addend)), kNumber);
  const int half = static_cast<int>(graph.number(g.half));
  int y = 0;
  if (g.order == GeluSpelled::Exporter)
    y = graph.two("MULTIPLY", graph.two("MULTIPLY", other, sum), half, kNumber);
  else if (g.order == GeluSpelled::HalfFirst)
    y = graph.two("MULTIPLY", other, graph.two("MULTIPLY", sum, half, kNumber));
  else
    y = graph.two("MULTIPLY", graph.two("MULTIPLY", other, half, kNumber), sum);
  graph.output(static_cast<UINT>(y), 0);
  return graph;
}

TEST_CASE("patterns: GELU in any order") {
  const Types whole{"ELEMENT_WISE_ABS", "ACTIVATION_GELU"};
  for (const auto order : {GeluSpelled::Exporter, GeluSpelled::HalfFirst, GeluSpelled::HalfOfX})
    CHECK(gelu({.order = order}).types() == whole);
  CHECK(gelu({.multiplies = true}).types() == whole);
  CHECK(gelu().types({}, "patterns").size() == 6);
  gelu().rewrittenPlan();
}

TEST_CASE("patterns: what is GELU but for one thing") {
  CHECK(gelu({.divisor = 1.5f}).types().size() == 6);
  CHECK(gelu({.divisor = 1.5f, .multiplies = true}).types().size() == 6);
  CHECK(gelu({.addend = 2}).types().size() == 6);
  CHECK(gelu({.half = 0.25f}).types().size() == 6);
  CHECK(gelu({.otherX = true}).types().size() == 7);
}

// ---- attention ------------------------------------------------------------------------------------------------------

struct Attends {
  std::string_view type = "f16";
  std::string axes = "[3]";
  bool divides = false;
  bool adds = false;
  bool readsWeights = false;  // as an output of the graph, too
  std::string_view alphaOfValues = "1";
  std::string_view cast = "";  // to which type before the softmax, and back behind it; empty: there is none
  bool readsCast = false;      // what is cast, as an output of the graph, too
};

Spelled attention(const Attends& a = {}) {
  Spelled graph;
  const auto sizes = [&](uint32_t rows, uint32_t columns) { return cat(a.type, "[2,4,", rows, ",", columns, "]"); };
  const std::string scores = sizes(32, 48);
  int x = static_cast<int>(graph.node(cat("GEMM ATensor=", sizes(32, 16), " BTensor=", sizes(48, 16),
                                          " OutputTensor=", scores, " TransA=NONE TransB=TRANSPOSE Alpha=0.5 Beta=0"),
                                      {Spelled::kInput, Spelled::kInput}));
  static constexpr uint16_t kFour = 0x4400;
  if (a.divides) x = graph.two("DIVIDE", x, static_cast<int>(graph.constant(&kFour, 2)), "{0,0,0,0}", scores);
  if (a.adds) x = graph.two("ADD", x, Spelled::kInput, "{48,0,0,1}", scores);
  const std::string wide = a.cast.empty() ? scores : cat(a.cast, scores.substr(3));
  const auto cast = [&](const std::string& from, const std::string& to) {
    if (!a.cast.empty()) x = static_cast<int>(graph.node(cat("CAST InputTensor=", from, " OutputTensor=", to), {x}));
    return x;
  };
  const int given = cast(scores, wide);
  x = static_cast<int>(
      graph.node(cat("ACTIVATION_SOFTMAX1 InputTensor=", wide, " OutputTensor=", wide, " Axes=", a.axes), {x}));
  const int weights = cast(wide, scores);
  if (a.readsCast) graph.output(static_cast<UINT>(given), 1);
  graph.output(graph.node(cat("GEMM ATensor=", scores, " BTensor=", sizes(48, 24), " OutputTensor=", sizes(32, 24),
                              " TransA=NONE TransB=NONE Alpha=", a.alphaOfValues, " Beta=0"),
                          {weights, Spelled::kInput}),
               0);
  if (a.readsWeights) graph.output(static_cast<UINT>(weights), 1);
  return graph;
}

TEST_CASE("attention: of two products and a softmax") {
  const Caps caps = capsOfMatrices();
  const auto op = attention().only(caps);
  REQUIRE(op);
  CHECK(op->schema().name == "ATTENTION");
  CHECK(op->inputs().size() == 3);
  CHECK(op->input(1).sizes[2] == 48);
  CHECK(op->inputName(2).starts_with("BTensor of Nodes[2]"));
  CHECK(attention().types(caps, "attention").size() == 3);
  attention().rewrittenPlan("", caps);
}

TEST_CASE("attention: of scores that are scaled, and to which something is added") {
  const Caps caps = capsOfMatrices();
  const auto op = attention({.divides = true, .adds = true}).only(caps);
  REQUIRE(op);
  REQUIRE(op->inputs().size() == 4);
  CHECK(op->input(3).strides[1] == 0);
  attention({.divides = true, .adds = true}).rewrittenPlan("", caps);
}

TEST_CASE("attention: of a softmax of FLOAT32 between products of FLOAT16") {
  const Caps caps = capsOfMatrices();
  const auto op = attention({.adds = true, .cast = "f32"}).only(caps);
  REQUIRE(op);
  CHECK(op->schema().name == "ATTENTION");
  CHECK(op->inputs().size() == 4);
  attention({.adds = true, .cast = "f32"}).rewrittenPlan("", caps);
}

TEST_CASE("attention: what is left as it is") {
  const Caps caps = capsOfMatrices();
  const auto count = [&](const Attends& a) { return attention(a).types(caps).size(); };
  CHECK(count({.axes = "[2]"}) == 3);
  CHECK(count({.readsWeights = true}) == 3);
  CHECK(count({.alphaOfValues = "2"}) == 3);
  CHECK(count({.cast = "f32", .readsCast = true}) == 5);
  CHECK(count({.type = "f32", .cast = "f16"}) == 5);
  // FLOAT32, and a device without matrices.
  CHECK(count({.type = "f32"}) == 3);
  CHECK(attention().types().size() == 3);
}

}  // namespace
}  // namespace dimple::testing
