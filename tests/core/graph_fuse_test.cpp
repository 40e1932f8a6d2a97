// What the passes make of graphs.
#include "core/graph/pass.h"

#include <doctest.h>

#include <cmath>

#include "core/schema/desc_text.h"
#include "core/text.h"
#include "tests/core/described.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kConvolution =
    "CONVOLUTION InputTensor=f32[1,4,6,6] FilterTensor=f32[8,4,3,3]! OutputTensor=f32[1,8,6,6] Strides=[1,1] "
    "Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1";
constexpr const char* kElu = "ACTIVATION_ELU InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]{512,1,64,8} Alpha=2";

// The operators of a rewritten graph, one line each.
std::vector<std::string> linesOf(const GraphBuilder& graph, std::string_view without = "", const Caps& caps = {}) {
  const Graph rewritten = graph.rewritten({caps, optionsWithout(cat("chains,", without))});
  std::vector<std::string> lines;
  for (const Node& node : rewritten.nodes()) lines.push_back(node.op ? lineOf(*node.op) : "constant");
  return lines;
}

struct Chain : GraphBuilder {
  Chain(const char* first, const char* second) {
    op(second, "second");  // before the node that it follows
    op(first, "first");
    const auto parsed = parseCase(first);
    const auto view = Operation::parse(parsed->desc.desc());
    for (UINT i = 0; i < view->inputs().size(); ++i)
      if (view->input(i).present()) input(i, 1, i);
    edge(1, 0);
    output(0, 0);
  }
};

TEST_CASE("graph rewrites: an activation goes into the operator before it") {
  const Chain graph(kConvolution, kElu);
  const auto lines = linesOf(graph);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("FusedActivation=ELU(Alpha=2)") != std::string::npos);
  CHECK(lines[0].find("OutputTensor=f32[1,8,6,6]{512,1,64,8}") != std::string::npos);
  CHECK(linesOf(graph, "activations").size() == 2);
  CHECK(linesOf(graph, "views,activations").size() == 2);
  const Graph rewritten = graph.rewritten({});
  const Node& node = rewritten.nodes().front();
  CHECK(node.label == "first (CONVOLUTION) with second (ACTIVATION_ELU)");
  CHECK(rewritten.outputs()[0] == &node.outputs()[0]);
}

TEST_CASE("graph rewrites: on drivers that compile slowly an activation of much code stays a node") {
  Caps caps;
  caps.isProcessor = true;
  const auto nodesWith = [&](std::string_view activation) {
    const std::string node = cat(activation, " InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]");
    return linesOf(Chain(kConvolution, node.c_str()), "", caps).size();
  };
  for (const std::string_view activation :
       {"ACTIVATION_GELU", "ACTIVATION_TANH", "ELEMENT_WISE_TANH", "ACTIVATION_SIGMOID", "ACTIVATION_ELU Alpha=1"}) {
    CAPTURE(activation);
    CHECK(nodesWith(activation) == 2);
  }
  for (const std::string_view activation : {"ACTIVATION_RELU", "ACTIVATION_HARD_SIGMOID Alpha=0.2 Beta=0.5"}) {
    CAPTURE(activation);
    CHECK(nodesWith(activation) == 1);
  }
  constexpr const char* kNormalization =
      "MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6] Axes=[2,3] NormalizeVariance=1 "
      "Epsilon=0.00001";
  CHECK(linesOf(Chain(kNormalization, "ACTIVATION_TANH InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]"), "", caps)
            .size() == 1);
}

TEST_CASE("graph rewrites: CLIP1 of floats is fused as CLIP") {
  constexpr const char* kClip =
      "ELEMENT_WISE_CLIP1 InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6] MinMaxDataType=FLOAT32 Min=-0.5 Max=6";
  const auto lines = linesOf(Chain(kConvolution, kClip));
  REQUIRE(lines.size() == 1);
  CHECK_MESSAGE(lines[0].find("ELEMENT_WISE_CLIP(Min=-0.5,Max=6)") != std::string::npos, lines[0]);
  const std::string scaled = cat(kClip, " ScaleBias=[2,1]");
  CHECK(linesOf(Chain(kConvolution, scaled.c_str())).size() == 2);
}

TEST_CASE("graph rewrites: what else reads the operator's result keeps it") {
  Chain graph(kConvolution, kElu);
  SUBCASE("an output of the graph") { graph.output(1, 1); }
  SUBCASE("another node") {
    const UINT other = graph.op("ACTIVATION_RELU InputTensor=f32[288] OutputTensor=f32[288]");
    graph.edge(1, other);
    graph.output(other, 1);
  }
  CHECK(linesOf(graph).front().find("ACTIVATION_ELU ") == 0);
}

TEST_CASE("graph rewrites: only activations that can be fused, of the tensor as it was made") {
  // Another type, other sizes, another layout.
  for (const char* second : {"ACTIVATION_RELU InputTensor=f16[2,8,6,6] OutputTensor=f16[2,8,6,6]",
                             "ACTIVATION_RELU InputTensor=f32[8,1,6,6] OutputTensor=f32[8,1,6,6]",
                             "ACTIVATION_RELU InputTensor=f32[1,8,6,6]{288,1,48,8} OutputTensor=f32[1,8,6,6]",
                             "ACTIVATION_SOFTMAX1 InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6] Axes=[1]",
                             "ELEMENT_WISE_ABS InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]"}) {
    CAPTURE(second);
    CHECK(linesOf(Chain(kConvolution, second)).size() == 2);
  }
  // One that has an activation, and one that takes none.
  CHECK(linesOf(Chain((std::string(kConvolution) + " FusedActivation=RELU").c_str(), kElu)).size() == 2);
  CHECK(
      linesOf(Chain("ELEMENT_WISE_MULTIPLY ATensor=f32[1,8,6,6] BTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]", kElu))
          .size() == 2);
}

TEST_CASE("graph rewrites: of a chain of activations the first goes into the operator") {
  GraphBuilder graph;
  constexpr const char* kAdd1 = "ELEMENT_WISE_ADD1 ATensor=f32[8] BTensor=f32[8] OutputTensor=f32[8]";
  constexpr const char* kTanh = "ACTIVATION_TANH InputTensor=f32[8] OutputTensor=f32[8]";
  graph.op(kTanh);
  graph.op(kAdd1);
  graph.op(kTanh);
  graph.op(kAdd1);
  graph.input(0, 1, 0);
  graph.input(1, 1, 1);
  graph.edge(1, 2);
  graph.edge(2, 0);
  graph.edge(0, 3, 0);
  graph.edge(0, 3, 1);
  graph.output(3, 0);
  const auto lines = linesOf(graph);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("ACTIVATION_TANH"));
  CHECK(lines[1].find("FusedActivation=TANH") != std::string::npos);
  CHECK(lines[2].find("FusedActivation") == std::string::npos);
  CHECK(totalsOf(graph.plan().plan.execution).dispatches == 4);  // as given
}

}  // namespace
}  // namespace dimple::testing
