// Which products with weights that are dequantized read the integers.
#include <doctest.h>

#include <string>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"
#include "tests/core/planned.h"

namespace dimple::testing {
namespace {

struct DequantizedWeights {
  std::string batch = "2", rows = "3", depth = "64", columns = "40";
  std::string type = "u4", floats = "f16";
  std::string strides{};  // of the integers; empty: those of one matrix for all batches
  std::string scales = "[1,40,2]";
  std::string zeroPoints{};  // their sizes, and maybe strides
  bool casts = false;        // the product is one of FLOAT32
  std::string transforms = "TransA=NONE TransB=TRANSPOSE";
  std::string activation{};
  std::string aStrides{};
  bool owned = true;
  bool readsWeights = false;  // what is dequantized is an output of the graph, too
};

GraphBuilder graphOf(const DequantizedWeights& w) {
  GraphBuilder graph;
  const std::string all = cat("[", w.batch, ",", w.columns, ",", w.depth, "]");
  const std::string mark = w.owned ? "!" : "";
  const UINT weights =
      graph.op(cat("DEQUANTIZE InputTensor=", w.type, all, w.strides.empty() ? cat("{0,", w.depth, ",1}") : w.strides,
                   mark, " QuantizationType=", w.zeroPoints.empty() ? "SCALE" : "SCALE_ZERO_POINT",
                   " QuantizationTensors=(", w.floats, w.scales, mark,
                   w.zeroPoints.empty() ? "" : cat(",", w.type, w.zeroPoints, mark), ") OutputTensor=", w.floats, all));
  for (UINT i = 0; i < (w.zeroPoints.empty() ? 2u : 3u); ++i) graph.input(1 + i, weights, i);
  if (w.readsWeights) graph.output(weights, 1);
  const std::string type = w.casts ? "f32" : w.floats;
  UINT b = weights;
  if (w.casts) {
    b = graph.op(cat("CAST InputTensor=", w.floats, all, " OutputTensor=f32", all));
    graph.edge(weights, b);
  }
  const std::string result = cat(type, "[", w.batch, ",", w.rows, ",", w.columns, "]");
  const UINT product =
      graph.op(cat("GEMM ATensor=", type, "[", w.batch, ",", w.rows, ",", w.depth, "]", w.aStrides, " BTensor=", type,
                   all, " OutputTensor=", result, " ", w.transforms, " Alpha=1 Beta=0", w.activation));
  graph.input(0, product);
  graph.edge(b, product, 1);
  graph.output(product, 0);
  return graph;
}

// The operators that execute, in their order.
std::string executedOf(const DequantizedWeights& w, std::string_view without = "chains") {
  const GraphBuilder builder = graphOf(w);
  const Graph graph = builder.rewritten({Caps{}, optionsWithout(without)});
  std::string names;
  for (const Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization) names += cat(names.empty() ? "" : " ", node.op->schema().name);
  return names;
}

TEST_CASE("dequantized: products of few rows read the integers") {
  const std::string one = "PRODUCT_WITH_WEIGHTS";
  CHECK(executedOf({}) == one);
  CHECK(executedOf({.owned = false}) == one);
  CHECK(executedOf({.type = "i8"}) == one);
  CHECK(executedOf({.scales = "[1,40,4]", .zeroPoints = "[1,40,4]"}) == one);
  CHECK(executedOf({.scales = "[1,40,1]", .zeroPoints = "[1,40,1]{0,0,0}"}) == one);
  CHECK(executedOf({.scales = "[1,1,1]"}) == one);
  CHECK(executedOf({.casts = true}) == one);
  CHECK(executedOf({.floats = "f32"}) == one);
  CHECK(executedOf({.rows = "8"}) == one);
  CHECK(executedOf({.activation = " FusedActivation=RELU"}) == one);
  CHECK(executedOf({.owned = false, .readsWeights = true}) == "DEQUANTIZE " + one);
  // Batches of rows that do not follow each other are matrices.
  CHECK(executedOf({.aStrides = "{512,128,1}"}) == one);
}

TEST_CASE("dequantized: what is bound is the integers as they are") {
  const Plan plan = graphOf({.owned = false}).rewrittenPlan().plan;
  CHECK(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel).starts_with("weight_rows"));
  CHECK(plan.temporaryBytes == 0);
  CHECK(plan.execution[0].buffers[1].kind == SlotKind::Input);
  // One workgroup's worth of columns for all six rows of both batches.
  CHECK(graphOf({}).rewrittenPlan().plan.execution.size() == 1);
}

TEST_CASE("dequantized: many rows by matrices of subgroups") {
  const DequantizedWeights many{.rows = "256", .depth = "256", .columns = "2048", .scales = "[1,2048,8]"};
  const GraphBuilder graph = graphOf(many);
  const Plan plan = graph.rewrittenPlan("", capsOfMatrices()).plan;
  REQUIRE(plan.execution.size() == 1);
  CHECK(kernelName(plan.execution[0].kernel).starts_with("weight_tiles"));
  // Of few rows subgroups share the depth, if it is long enough for all of them.
  const auto kernelOf = [](const DequantizedWeights& weights) {
    return std::string(kernelName(graphOf(weights).rewrittenPlan("", capsOfMatrices()).plan.execution[0].kernel));
  };
  for (const char* rows : {"8", "16", "32"})
    CHECK(kernelOf({.rows = rows, .depth = "256", .columns = "2048", .scales = "[1,2048,8]"})
              .starts_with("weight_split"));
  CHECK(kernelOf({.rows = "1", .depth = "256", .columns = "2048", .scales = "[1,2048,8]"}).starts_with("weight_rows"));
  CHECK(kernelOf({.rows = "8", .depth = "64", .columns = "2048", .scales = "[1,2048,2]"}).starts_with("weight_rows"));
  // Of very many, each tile would dequantize the same weights.
  DequantizedWeights veryMany = many;
  veryMany.rows = "257";
  veryMany.owned = false;
  CHECK(graphOf(veryMany).rewrittenPlan("", capsOfMatrices()).plan.execution.size() > 1);
  DequantizedWeights single = many;
  single.floats = "f32";
  single.owned = false;
  CHECK(graphOf(single).rewrittenPlan("", capsOfMatrices()).plan.execution.size() > 1);
}

// Tiles of weight_tiles: rows, columns, steps and invocations.
TEST_CASE("dequantized: the more columns, the larger the tiles") {
  const auto tileOf = [](const char* columns) {
    const DequantizedWeights w{.rows = "256", .depth = "256", .columns = columns, .scales = cat("[1,", columns, ",8]")};
    const Plan plan = graphOf(w).rewrittenPlan("", capsOfMatrices()).plan;
    REQUIRE(plan.execution.size() == 1);
    const Dispatch& dispatch = plan.execution[0];
    CHECK(dispatch.groupSize == specOf(dispatch, 16));
    return cat(specOf(dispatch, 3), "x", specOf(dispatch, 4), "x", specOf(dispatch, 5), " ", dispatch.groupSize);
  };
  CHECK(tileOf("8192") == "128x128x64 256");
  CHECK(tileOf("2048") == "64x64x64 128");
}

TEST_CASE("dequantized: few rows go to matrices whose elements are set where their places are known") {
  Caps known = capsOfMatrices();
  known.matrixPlaces = true;
  const auto takes = [](DequantizedWeights w, const Caps& caps) {
    w.depth = "256";
    if (w.columns == "40") w.columns = "2048";
    w.scales = cat("[1,", w.columns, ",8]");
    const Plan plan = graphOf(w).rewrittenPlan("", caps).plan;
    const std::string_view kernel = kernelName(plan.execution[0].kernel);
    return kernel.starts_with(w.batch == "1" && w.rows == "1" ? "weight_single" : "weight_few");
  };
  CHECK(takes({.batch = "1", .rows = "1"}, known));
  CHECK(takes({.rows = "1"}, known));
  CHECK(takes({.rows = "2"}, known));  // of two batches
  CHECK(takes({.rows = "4"}, known));
  CHECK_FALSE(takes({.rows = "5"}, known));
  CHECK_FALSE(takes({.rows = "1", .floats = "f32"}, known));
  CHECK_FALSE(takes({.rows = "1", .casts = true}, known));
  CHECK_FALSE(takes({.rows = "1"}, capsOfMatrices()));
  Caps other = known;
  other.matrices = {8, 16, 16};
  CHECK_FALSE(takes({.rows = "1"}, other));
  other = known;
  other.features &= ~static_cast<uint32_t>(Feature::SubgroupVote);
  CHECK_FALSE(takes({.rows = "1"}, other));
  other = known;
  other.sharedBytes = 12288;
  CHECK(takes({.rows = "2"}, other));
  CHECK_FALSE(takes({.rows = "4"}, other));
  // A matrix has 16 columns.
  CHECK(takes({.rows = "1", .columns = "512"}, known));
  CHECK_FALSE(takes({.rows = "1", .columns = "496"}, known));
  other = known;
  other.isProcessor = true;
  CHECK_FALSE(takes({.rows = "1"}, other));
}

TEST_CASE("dequantized: one matrix for all batches") {
  DequantizedWeights weights{.batch = "3", .rows = "40", .owned = false};
  CHECK(executedOf(weights) == "DEQUANTIZE GEMM");
  const GraphBuilder builder = graphOf(weights);
  const Graph graph = builder.rewritten({Caps{}, {}});
  for (const Node& node : graph.nodes()) {
    if (node.op->schema().type == DML_OPERATOR_DEQUANTIZE) CHECK(node.op->output().elements == 40 * 64);
    if (node.op->schema().type == DML_OPERATOR_GEMM) CHECK(node.op->input(1).strides[0] == 0);
  }
  weights.readsWeights = true;
  const GraphBuilder other = graphOf(weights);
  const Graph left = other.rewritten({Caps{}, {}});
  for (const Node& node : left.nodes())
    if (node.op->schema().type == DML_OPERATOR_DEQUANTIZE) CHECK(node.op->output().elements == 3 * 40 * 64);
}

TEST_CASE("dequantized: what is left as it is") {
  const std::string both = "DEQUANTIZE GEMM";
  CHECK(executedOf({.owned = false}, "chains,dequantized") == both);
  CHECK(executedOf({.rows = "9", .owned = false}) == both);                          // 18 rows
  CHECK(executedOf({.depth = "48", .scales = "[1,40,3]", .owned = false}) == both);  // in no vectors
  CHECK(executedOf({.scales = "[1,40,8]", .owned = false}) == both);                 // blocks of 8
  CHECK(executedOf({.depth = "96", .scales = "[1,40,2]", .owned = false}) == both);  // blocks of 48
  CHECK(executedOf({.scales = "[1,20,2]", .owned = false}) == both);                 // blocks across columns
  CHECK(executedOf({.scales = "[2,40,2]", .owned = false}) == both);                 // of a batch each
  CHECK(executedOf({.strides = "{2560,64,1}", .owned = false}) == both);
  CHECK(executedOf({.aStrides = "{195,65,1}", .owned = false}) == both);
  CHECK(executedOf({.depth = "40",
                    .columns = "40",
                    .scales = "[1,40,1]",
                    .transforms = "TransA=NONE TransB=NONE",
                    .owned = false}) == both);
}

}  // namespace
}  // namespace dimple::testing
