// Which tensors between nodes get rows that begin at vectors.
#include <doctest.h>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

// Kernels of the operators in the order in which they execute.
std::vector<std::string> kernelsOf(const Plan& plan) {
  std::vector<std::string> kernels;
  for (const Dispatch& dispatch : plan.execution) kernels.emplace_back(kernelName(dispatch.kernel));
  return kernels;
}
using Kernels = std::vector<std::string>;

std::string productLine(uint32_t rows, uint32_t depth, uint32_t columns, const char* type = "f32") {
  return cat("GEMM ATensor=", type, "[1,1,", rows, ",", depth, "] BTensor=", type, "[1,1,", depth, ",", columns,
             "] OutputTensor=", type, "[1,1,", rows, ",", columns, "]");
}

// A * (B * C) of odd width; what the inner product makes is read as B.
GraphBuilder productGraph() {
  GraphBuilder graph;
  graph.op(productLine(64, 32, 49));
  graph.op(productLine(128, 64, 49));
  graph.input(0, 0, 0);
  graph.input(1, 0, 1);
  graph.input(2, 1, 0);
  graph.edge(0, 1, 1);
  graph.output(1, 0);
  return graph;
}

TEST_CASE("layouts: rows of a product begin at vectors where the next one reads them so") {
  const GraphBuilder graph = productGraph();
  CHECK(kernelsOf(graph.rewrittenPlan("layouts").plan) == Kernels{"gemm_tile.f32", "gemm_tile.f32"});
  const Plan plan = graph.rewrittenPlan("", {}, true).plan;
  CHECK(kernelsOf(plan) == Kernels{"gemm_tile.f32", "gemm_split_tile.f32"});
  // 64 rows of 52 elements, of which the first product stores none behind the last.
  CHECK(plan.execution[0].buffers[3].bytes == (63 * 52 + 49) * 4);
  CHECK(plan.execution[1].buffers[1].bytes == 64 * 52 * 4);
  CHECK(plan.temporaryBytes == 64 * 52 * 4);
}

TEST_CASE("layouts: a convolution of one place reads rows of all places") {
  GraphBuilder graph;
  graph.op(
      "MAX_POOLING InputTensor=f32[1,64,14,14] OutputTensor=f32[1,64,7,7] DimensionCount=2 Strides=[2,2] "
      "WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0]");
  graph.op(
      "CONVOLUTION InputTensor=f32[1,64,7,7] FilterTensor=f32[32,64,1,1] OutputTensor=f32[1,32,7,7] "
      "DimensionCount=2 Strides=[1,1] Dilations=[1,1] StartPadding=[0,0] EndPadding=[0,0] OutputPadding=[0,0] "
      "GroupCount=1 Mode=1 Direction=0");
  graph.input(0, 0);
  graph.edge(0, 1);
  graph.input(1, 1, 1);
  graph.output(1, 0);
  CHECK(kernelsOf(graph.rewrittenPlan("layouts").plan).back() == "gemm_tile.f32");
  CHECK(kernelsOf(graph.rewrittenPlan("", {}, true).plan).back() == "gemm_vector_tile.f32");
}

TEST_CASE("layouts: what others know stays as it is") {
  GraphBuilder graph = productGraph();
  SUBCASE("an output of the graph") { graph.output(0, 1); }
  SUBCASE("an element-wise node, which would step through rows") {
    const UINT abs = graph.op("ELEMENT_WISE_ABS InputTensor=f32[1,1,64,49] OutputTensor=f32[1,1,64,49]");
    graph.edge(0, abs);
    graph.output(abs, 1);
  }
  SUBCASE("a node that takes other sizes") {
    const UINT abs = graph.op("ELEMENT_WISE_ABS InputTensor=f32[3136] OutputTensor=f32[3136]");
    graph.edge(0, abs);
    graph.output(abs, 1);
  }
  const auto kernels = kernelsOf(graph.rewrittenPlan().plan);
  CHECK(std::ranges::count(kernels, "gemm_tile.f32") == 2);
}

TEST_CASE("layouts: the end of a sum is no place for what lies behind a row") {
  GraphBuilder graph;
  graph.op(productLine(64, 32, 49));
  graph.op(productLine(64, 49, 64));
  graph.input(0, 0, 0);
  graph.input(1, 0, 1);
  graph.edge(0, 1, 0);
  graph.input(2, 1, 1);
  graph.output(1, 0);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(kernelsOf(plan) == Kernels{"gemm_tile.f32", "gemm_tile.f32"});
  CHECK(plan.temporaryBytes == 64 * 49 * 4);  // packed: nobody gains
}

TEST_CASE("layouts: vectors reach over the end only of what is there") {
  for (const bool padded : {false, true}) {
    const auto kernelOf = [&](uint32_t bytes) {
      GraphBuilder graph;
      graph.op(cat("GEMM ATensor=f32[1,1,64,32] BTensor=f32[1,1,32,49]{0,0,", padded ? 52 : 51, ",1}@", bytes,
                   " OutputTensor=f32[1,1,64,49]"));
      graph.input(0, 0, 0);
      graph.input(1, 0, 1);
      graph.output(0, 0);
      return kernelsOf(graph.rewrittenPlan().plan)[0];
    };
    CHECK(kernelOf((31 * 52 + 52) * 4) == (padded ? "gemm_vector_tile.f32" : "gemm_tile.f32"));
    CHECK(kernelOf((31 * 52 + 52) * 4 - 4) == "gemm_tile.f32");
  }
}

}  // namespace
}  // namespace dimple::testing
