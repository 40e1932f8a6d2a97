// Normalizations of rows in front of products, which become part of these where the device multiplies matrices.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/schema/op_schema.h"
#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/random.h"
#include "tests/core/matrix_caps.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

constexpr DataType kType = DML_TENSOR_DATA_TYPE_FLOAT16;

struct NormalizedRows {
  uint32_t batches = 1, rows = 40, depth = 64, columns = 64;
  bool scales = true, shifts = true, usesMean = true;
  bool turned = false;  // B lies along the depth
  bool adds = true;     // a C of one row
  std::string activation = "";
  bool readTwice = false;  // a function of the normalized rows is an output, too
  bool multipliedTwice = false;
  bool givenByNode = false;  // B is the result of a node that reads an input
  std::string axes = "[3]";
  double offset = 0;  // of the numbers that are normalized
};

GraphOfLines graphOf(const NormalizedRows& n) {
  GraphOfLines graph;
  Random random(n.rows * 1000 + n.depth);
  const auto draw = [&](size_t count, double most, double middle = 0) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = middle + (2 * random.unit() - 1) * most;
    return numbers;
  };
  const std::string x = cat("f16[1,", n.batches, ",", n.rows, ",", n.depth, "]");
  const std::string y = cat("f16[1,", n.batches, ",", n.rows, ",", n.columns, "]");
  const GraphSource absent{};
  const GraphSource scale = n.scales ? graph.input(kType, draw(n.depth, 0.5, 1)) : absent;
  const GraphSource shift = n.shifts ? graph.input(kType, draw(n.depth, 0.5)) : absent;
  const auto parameter = [&](const char* name, bool present) {
    return present ? cat(" ", name, "=", x, "{0,0,0,1}") : std::string();
  };
  const GraphSource rows =
      graph.node(cat("MEAN_VARIANCE_NORMALIZATION2 InputTensor=", x, parameter("ScaleTensor", n.scales),
                     parameter("BiasTensor", n.shifts), " OutputTensor=", x, " Axes=", n.axes,
                     " UseMean=", n.usesMean ? "1" : "0", " UseVariance=1 Epsilon=1e-05"),
                 {graph.input(kType, draw(size_t{n.batches} * n.rows * n.depth, 2, n.offset)), scale, shift});
  const auto multiplied = [&] {
    const std::string b = n.turned ? cat("f16[1,", n.batches, ",", n.columns, ",", n.depth, "]{0,0,", n.depth, ",1}")
                                   : cat("f16[1,", n.batches, ",", n.depth, ",", n.columns, "]{0,0,", n.columns, ",1}");
    GraphSource weights = graph.input(kType, draw(size_t{n.depth} * n.columns, 1));
    if (n.givenByNode) {
      const std::string flat = cat("f16[1,1,1,", n.depth * n.columns, "]");
      weights =
          graph.node(cat("ACTIVATION_SOFTPLUS InputTensor=", flat, " OutputTensor=", flat, " Steepness=1"), {weights});
    }
    const GraphSource c = n.adds ? graph.input(kType, draw(n.columns, 3)) : absent;
    return graph.node(
        cat("GEMM ATensor=", x, " BTensor=", b, n.adds ? cat(" CTensor=", y, "{0,0,0,1}") : "", " OutputTensor=", y,
            " TransA=NONE TransB=", n.turned ? "TRANSPOSE" : "NONE", " Alpha=0.5 Beta=2", n.activation),
        {rows, weights, c});
  };
  graph.output(multiplied());
  if (n.multipliedTwice) graph.output(multiplied());
  if (n.readTwice) graph.output(graph.node(cat("ELEMENT_WISE_ABS InputTensor=", x, " OutputTensor=", x), {rows}));
  return graph;
}

std::vector<NormalizedRows> normalizedRows() {
  return {{},
          {.rows = 24, .depth = 512, .columns = 112, .turned = true, .readTwice = true},
          {.batches = 3, .rows = 16, .depth = 96, .columns = 72, .activation = " FusedActivation=ACTIVATION_GELU"},
          {.depth = 1024, .columns = 48, .shifts = false, .usesMean = false, .adds = false},
          {.batches = 2, .rows = 17, .depth = 256, .scales = false, .readTwice = true, .offset = 50},
          {.rows = 8, .depth = 272, .columns = 200, .turned = true}};
}

size_t normalizedProducts(const NormalizedRows& n, std::string_view without = "", const Caps& caps = capsOfMatrices()) {
  const auto planned = planTestGraph(graphOf(n).graph(), {caps, optionsWithout(without)});
  REQUIRE_MESSAGE(planned, planned.error().text);
  size_t count = 0;
  for (const Node& node : planned->rewritten.nodes())
    count += node.op && node.op->schema().name == "PRODUCT_OF_NORMALIZED_ROWS";
  return count;
}

TEST_CASE("prologues: a product normalizes the rows that it reads") {
  CHECK(normalizedProducts({}) == 1);
  CHECK(normalizedProducts({.batches = 2, .turned = true}) == 1);
  CHECK(normalizedProducts({.axes = "[1,3]"}) == 1);
  CHECK(normalizedProducts({.readTwice = true}) == 1);
  CHECK(normalizedProducts({}, "prologues") == 0);
}

TEST_CASE("prologues: what stays apart") {
  CHECK(normalizedProducts({}, "", {}) == 0);
  CHECK(normalizedProducts({.multipliedTwice = true}) == 0);
  CHECK(normalizedProducts({.givenByNode = true}) == 0);
  CHECK(normalizedProducts({.axes = "[2,3]"}) == 0);
  CHECK(normalizedProducts({.batches = 2, .axes = "[1,3]"}) == 0);
  // No whole matrices, and rows that do not fit.
  CHECK(normalizedProducts({.depth = 72}) == 0);
  CHECK(normalizedProducts({.columns = 72}) == 0);
  CHECK(normalizedProducts({.depth = 1040}) == 0);
  // Many tiles keep the device busy.
  CHECK(normalizedProducts({.rows = 2048, .columns = 512}) == 0);
}

void STDMETHODCALLTYPE countNormalizedProducts(void* count, const char* kernel, double) {
  *static_cast<size_t*>(count) += std::string_view(kernel).starts_with("normalized_product");
}

GPU_TEST_CASE("prologues: results are those of the nodes") {
  const bool expected = std::getenv("DIMPLE_TEST_MATRICES") != nullptr;
  const bool profiles = SUCCEEDED(gpu.context().SetProfiling(TRUE));
  StepMemory memory;
  size_t dispatches = 0;
  for (const NormalizedRows& n : normalizedRows()) {
    const std::string failure = compareWithNodes(gpu, memory, graphOf(n).graph(), compareWithLargest);
    CHECK_MESSAGE(failure.empty(), cat(n.rows, " x ", n.depth, " x ", n.columns, ": ", failure));
    if (profiles) CHECK(gpu.context().ReadProfile(countNormalizedProducts, &dispatches) == S_OK);
  }
  if (profiles) CHECK(gpu.context().SetProfiling(FALSE) == S_OK);
  // compareWithNodes() runs a graph twice.
  if (expected && profiles) CHECK(dispatches == 2 * normalizedRows().size());
}

}  // namespace
}  // namespace dimple::testing
