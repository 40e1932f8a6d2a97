// Which nodes are left out because another one computes the same.
#include <doctest.h>

#include <initializer_list>
#include <string>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kSumOfRows = "REDUCE Function=SUM InputTensor=f32[4,8] OutputTensor=f32[4,1] Axes=[1]";
constexpr const char* kAddOfSums = "ELEMENT_WISE_ADD ATensor=f32[4,1] BTensor=f32[4,1] OutputTensor=f32[4,1]";

// Two nodes that read one input, and their sum.
size_t dispatchesOfPair(const std::string& first, const std::string& second, const char* without = "") {
  GraphBuilder graph;
  graph.op(first);
  graph.op(second);
  graph.op(kAddOfSums);
  graph.input(0, 0);
  graph.input(0, 1);
  graph.edge(0, 2, 0);
  graph.edge(1, 2, 1);
  graph.output(2, 0);
  return graph.rewrittenPlan(without).plan.execution.size();
}

TEST_CASE("repeated: a node that computes what another one computes is left out") {
  CHECK(dispatchesOfPair(kSumOfRows, kSumOfRows, "repeated") == 3);
  CHECK(dispatchesOfPair(kSumOfRows, kSumOfRows) == 2);
  CHECK(dispatchesOfPair(kSumOfRows, "REDUCE Function=MAX InputTensor=f32[4,8] OutputTensor=f32[4,1] Axes=[1]") == 3);
  CHECK(dispatchesOfPair(kSumOfRows, "REDUCE Function=SUM InputTensor=f32[4,8]{1,4} OutputTensor=f32[4,1] Axes=[1]") ==
        3);
}

TEST_CASE("repeated: attributes are compared to the last") {
  const auto line = [](const char* attributes) {
    return cat("ACTIVATION_LINEAR InputTensor=f32[4,1] OutputTensor=f32[4,1] ", attributes);
  };
  CHECK(dispatchesOfPair(line("Alpha=2 Beta=1"), line("Alpha=2 Beta=1")) == 2);
  CHECK(dispatchesOfPair(line("Alpha=2 Beta=1"), line("Alpha=2 Beta=3")) == 3);
  const auto slice = [](int stride) {
    return cat(
        "SLICE1 InputTensor=f32[8,1] OutputTensor=f32[4,1] InputWindowOffsets=[0,0] InputWindowSizes=[8,1] "
        "InputWindowStrides=[",
        stride, ",1]");
  };
  CHECK(dispatchesOfPair(slice(2), slice(2), "views") == 2);
  CHECK(dispatchesOfPair(slice(2), slice(-2), "views") == 3);
  const auto scaled = [](const char* pair) {
    return cat("ELEMENT_WISE_EXP InputTensor=f32[4,1] OutputTensor=f32[4,1]", pair);
  };
  CHECK(dispatchesOfPair(scaled(" ScaleBias=[2,1]"), scaled(" ScaleBias=[2,1]")) == 2);
  CHECK(dispatchesOfPair(scaled(" ScaleBias=[2,1]"), scaled(" ScaleBias=[2,3]")) == 3);
  CHECK(dispatchesOfPair(scaled(" ScaleBias=[2,1]"), scaled("")) == 3);
}

TEST_CASE("repeated: what reads repeated nodes is repeated, and outputs of the graph are not") {
  GraphBuilder graph;
  for (int copy = 0; copy < 2; ++copy) {
    graph.op(kSumOfRows);
    graph.op("ACTIVATION_RELU InputTensor=f32[4,1] OutputTensor=f32[4,1]");
    graph.op("ELEMENT_WISE_ABS InputTensor=f32[4,1] OutputTensor=f32[4,1]");
  }
  for (const uint32_t first : {0u, 3u}) {
    graph.input(0, first);
    graph.edge(first, first + 1);
    graph.edge(first + 1, first + 2);
    graph.output(first + 2, first / 3);
  }
  const auto dispatches = graph.rewrittenPlan("activations").plan.execution;
  REQUIRE(dispatches.size() == 4);
  CHECK(dispatches[3].kernel == dispatches[2].kernel);
}

TEST_CASE("repeated: attention, which may keep what a cache holds, is not left out") {
  const std::string attention =
      "MULTIHEAD_ATTENTION QueryTensor=f32[1,4,8] KeyTensor=f32[1,4,8] ValueTensor=f32[1,4,8] OutputTensor=f32[1,4,8] "
      "Scale=1 MaskFilterValue=-1 HeadCount=1 MaskType=NONE";
  GraphBuilder graph;
  for (const uint32_t copy : {0u, 1u}) {
    graph.op(attention);
    for (const uint32_t input : {0u, 1u, 2u}) graph.input(input, copy, input);
  }
  graph.op("ELEMENT_WISE_ADD ATensor=f32[1,4,8] BTensor=f32[1,4,8] OutputTensor=f32[1,4,8]");
  graph.edge(0, 2, 0);
  graph.edge(1, 2, 1);
  graph.output(2, 0);
  CHECK(graph.rewrittenPlan("").plan.execution.size() == graph.rewrittenPlan("repeated").plan.execution.size());
}

}  // namespace
}  // namespace dimple::testing
