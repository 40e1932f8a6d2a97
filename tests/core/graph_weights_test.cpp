// What goes into the weights of the operator before it.
#include <doctest.h>

#include "core/checked.h"
#include "core/text.h"
#include "tests/core/described.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

// Of 8 channels and 6 x 6 places.
std::string convolution(std::string_view type, std::string_view more = "", bool owned = true) {
  return cat("CONVOLUTION InputTensor=", type, "[1,4,6,6] FilterTensor=", type, "[8,4,3,3]", owned ? "!" : "",
             " OutputTensor=", type,
             "[1,8,6,6] Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] "
             "GroupCount=1 ",
             more);
}
constexpr const char* kNormalization =
    "BATCH_NORMALIZATION InputTensor=f32[1,8,6,6] MeanTensor=f32[1,8,1,1]! VarianceTensor=f32[1,8,1,1]! "
    "ScaleTensor=f32[1,8,1,1]! BiasTensor=f32[1,8,1,1]! OutputTensor=f32[1,8,6,6] Spatial=1 Epsilon=0.001";
constexpr const char* kFactor =
    "ELEMENT_WISE_MULTIPLY ATensor=f32[1,8,6,6] BTensor=f32[1,8,6,6]{0,1,0,0}! OutputTensor=f32[1,8,6,6]";
constexpr const char* kSum =
    "ELEMENT_WISE_ADD ATensor=f32[1,8,6,6]{0,1,0,0}! BTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]";
constexpr const char* kProduct =
    "GEMM ATensor=f32[1,1,36,16] BTensor=f32[1,1,16,8]! OutputTensor=f32[1,1,36,8] TransA=NONE TransB=NONE Alpha=2 "
    "Beta=0";

// The first, and each after it, whose input `follows` is what the one before it makes; other inputs are the graph's.
GraphBuilder chain(const std::vector<std::pair<std::string, UINT>>& lines) {
  GraphBuilder graph;
  UINT next = 0;
  for (UINT n = 0; n < lines.size(); ++n) {
    const auto& [line, follows] = lines[n];
    graph.op(line, n ? "follower" : "first");
    const auto parsed = parseCase(line);
    const auto view = Operation::parse(parsed->desc.desc());
    for (UINT i = 0; i < view->inputs().size(); ++i) {
      if (n && i == follows)
        graph.edge(n - 1, n, i);
      else if (view->input(i).present())
        graph.input(next++, n, i);
    }
  }
  graph.output(static_cast<UINT>(lines.size() - 1), 0);
  return graph;
}

// The operators that execute, one line each.
std::vector<std::string> executed(const GraphBuilder& graph, std::string_view without = "") {
  graph.rewrittenPlan(without);
  const Graph rewritten = graph.rewritten({Caps{}, optionsWithout(cat("chains,", without))});
  std::vector<std::string> lines;
  for (const Node& node : rewritten.nodes())
    if (node.op && !node.runsAtInitialization) lines.push_back(lineOf(*node.op));
  return lines;
}

bool has(const std::string& line, std::string_view text) { return line.find(text) != line.npos; }

TEST_CASE("weights: a normalization, factors, sums and an activation go into a convolution") {
  const auto graph = chain({{convolution("f32"), 0},
                            {kNormalization, 0},
                            {kFactor, 0},
                            {kSum, 1},
                            {"ACTIVATION_RELU InputTensor=f32[1,8,6,6] OutputTensor=f32[1,8,6,6]", 0}});
  const auto lines = executed(graph);
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "BiasTensor=f32[1,8,1,1]"));
  CHECK(has(lines[0], "FusedActivation=RELU"));
  CHECK(executed(graph, "weights,epilogues").size() == 5);
  CHECK(executed(graph, "constants").size() == 5);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(plan.execution.size() == 1);
  CHECK(plan.persistentBytes == alignUp(8 * 4 * 9 * 4, 256) + 256);  // filter and bias
  CHECK(plan.execution[0].label ==
        "first (CONVOLUTION) with follower (BATCH_NORMALIZATION) with follower (ELEMENT_WISE_MULTIPLY) with follower "
        "(ELEMENT_WISE_ADD) with follower (ACTIVATION_RELU)");
}

TEST_CASE("weights: the activation of a normalization becomes that of the convolution") {
  const auto lines = executed(chain({{convolution("f32"), 0}, {cat(kNormalization, " FusedActivation=TANH"), 0}}));
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "FusedActivation=TANH"));
}

TEST_CASE("weights: a product takes what belongs to its columns") {
  const auto graph = chain({{kProduct, 0},
                            {"BATCH_NORMALIZATION InputTensor=f32[36,8,1,1] MeanTensor=f32[1,8,1,1]! "
                             "VarianceTensor=f32[1,8,1,1]! ScaleTensor=f32[1,1,1,1]! BiasTensor=f32[1,8,1,1]! "
                             "OutputTensor=f32[36,8,1,1] Spatial=1 Epsilon=0.001",
                             0},
                            {"ELEMENT_WISE_ADD ATensor=f32[36,8] BTensor=f32[36,8]{0,1}! OutputTensor=f32[36,8]", 0}});
  const auto lines = executed(graph);
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "CTensor=f32[1,1,36,8]{8,8,0,1}"));
  CHECK(has(lines[0], "Alpha=2 Beta=1"));
}

TEST_CASE("weights: a sum alone becomes the bias, of any type and of an input that is not constant") {
  for (const std::string type : {"f32", "f16"}) {
    const auto lines = executed(chain({{convolution(type, "", false), 0},
                                       {cat("ELEMENT_WISE_ADD ATensor=", type, "[1,8,6,6] BTensor=", type,
                                            "[1,8,6,6]{0,2,0,0} OutputTensor=", type, "[1,8,6,6]"),
                                        0}}));
    REQUIRE(lines.size() == 1);
    CHECK(has(lines[0], cat("BiasTensor=", type, "[1,8,1,1]{0,2,0,0}")));
  }
}

TEST_CASE("weights: what is left alone") {
  const auto folds = [](const std::vector<std::pair<std::string, UINT>>& lines) {
    return executed(chain(lines), "epilogues").size() < lines.size();
  };
  REQUIRE(folds({{convolution("f32"), 0}, {kFactor, 0}}));
  // Weights, a bias or a parameter that are not constant.
  CHECK(!folds({{convolution("f32", "", false), 0}, {kFactor, 0}}));
  CHECK(!folds({{convolution("f32", "BiasTensor=f32[1,8,1,1]"), 0}, {kFactor, 0}}));
  CHECK(!folds({{convolution("f32", "BiasTensor=f32[1,8,1,1]"), 0}, {kSum, 1}}));
  CHECK(!folds(
      {{convolution("f32"), 0},
       {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,8,6,6] BTensor=f32[1,8,6,6]{0,1,0,0} OutputTensor=f32[1,8,6,6]", 0}}));
  // FLOAT16 weights would be rounded once more.
  CHECK(!folds(
      {{convolution("f16"), 0},
       {"ELEMENT_WISE_MULTIPLY ATensor=f16[1,8,6,6] BTensor=f16[1,8,6,6]{0,1,0,0}! OutputTensor=f16[1,8,6,6]", 0}}));
  // Another activation between.
  CHECK(!folds({{convolution("f32", "FusedActivation=RELU"), 0}, {kFactor, 0}}));
  // A factor of each row, of each place, of another channel.
  CHECK(!folds(
      {{convolution("f32"), 0},
       {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,8,6,6] BTensor=f32[1,8,6,6]{0,0,1,0}! OutputTensor=f32[1,8,6,6]", 0}}));
  CHECK(!folds(
      {{convolution("f32"), 0},
       {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,6,8,6] BTensor=f32[1,6,8,6]{0,1,0,0}! OutputTensor=f32[1,6,8,6]", 0}}));
  // A C that is weighted.
  CHECK(!folds({{"GEMM ATensor=f32[1,1,36,16] BTensor=f32[1,1,16,8]! CTensor=f32[1,1,36,8]{0,0,0,1}! "
                 "OutputTensor=f32[1,1,36,8] TransA=NONE TransB=NONE Alpha=1 Beta=2",
                 0},
                {"ELEMENT_WISE_MULTIPLY ATensor=f32[1,1,36,8] BTensor=f32[1,1,36,8]{0,0,0,1}! "
                 "OutputTensor=f32[1,1,36,8]",
                 0}}));
  // Zeros behind the results.
  CHECK(
      !folds({{"CONVOLUTION InputTensor=f32[1,4,6,6] FilterTensor=f32[4,8,3,3]! OutputTensor=f32[1,8,9,9] "
               "Direction=BACKWARD Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] "
               "OutputPadding=[1,1] GroupCount=1",
               0},
              {"ELEMENT_WISE_ADD ATensor=f32[1,8,9,9] BTensor=f32[1,8,9,9]{0,1,0,0}! OutputTensor=f32[1,8,9,9]", 0}}));
}

TEST_CASE("weights: what else reads the results keeps them") {
  GraphBuilder graph = chain({{convolution("f32"), 0}, {kFactor, 0}});
  graph.output(0, 1);
  CHECK(executed(graph).size() == 2);
}

}  // namespace
}  // namespace dimple::testing
