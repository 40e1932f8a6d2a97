// Which normalizations are done by the product that reads them.
#include <doctest.h>

#include <string>
#include <string_view>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

struct NormalizedRows {
  std::string rows = "1", depth = "64", type = "f16";
  std::string strides{};            // of the rows that are normalized
  std::string factor = "[1,1,64]";  // empty: there is none
  bool hasShift = false;
  std::string attributes = "Axes=[2] UseMean=0 UseVariance=1 Epsilon=0.001";
  bool outputRead = false;  // the normalized rows are an output of the graph
  bool second = false;      // another product reads them
  bool places = true;       // how a device's matrices lie is known
};

// The operators that execute, in their order.
std::string executedAfter(const NormalizedRows& n, std::string_view without = "chains,siblings") {
  GraphBuilder graph;
  const std::string tensor = cat(n.type, "[1,", n.rows, ",", n.depth, "]");
  const UINT rows = graph.op(cat("MEAN_VARIANCE_NORMALIZATION2 InputTensor=", tensor, n.strides,
                                 n.factor.empty() ? "" : cat(" ScaleTensor=", n.type, n.factor),
                                 n.hasShift ? cat(" BiasTensor=", n.type, "[1,1,", n.depth, "]") : "",
                                 " OutputTensor=", tensor, " ", n.attributes));
  graph.input(0, rows);
  if (!n.factor.empty()) graph.input(1, rows, 1);
  if (n.hasShift) graph.input(2, rows, 2);
  if (n.outputRead) graph.output(rows, 2);
  for (UINT i = 0; i < (n.second ? 2u : 1u); ++i) {
    const UINT weights = graph.op(
        "DEQUANTIZE InputTensor=u4[1,512,64] QuantizationType=SCALE QuantizationTensors=(f16[1,512,2]) "
        "OutputTensor=f16[1,512,64]");
    graph.input(3 + 2 * i, weights, 0);
    graph.input(4 + 2 * i, weights, 1);
    const UINT product = graph.op(cat("GEMM ATensor=f16[1,", n.rows, ",64] BTensor=f16[1,512,64] OutputTensor=f16[1,",
                                      n.rows, ",512] TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=0"));
    graph.edge(rows, product);
    graph.edge(weights, product, 1);
    graph.output(product, i);
  }
  Caps caps = capsOfMatrices();
  caps.matrixPlaces = n.places;
  caps.workgroups = 32;
  const Graph made = graph.rewritten({caps, optionsWithout(without)});
  std::string names;
  for (const Node& node : made.nodes())
    if (node.op && !node.runsAtInitialization) names += cat(names.empty() ? "" : " ", node.op->schema().name);
  return names;
}

TEST_CASE("prologues: products of few rows normalize them") {
  const std::string one = "PRODUCT_WITH_WEIGHTS";
  CHECK(executedAfter({}) == one);
  CHECK(executedAfter({.factor = ""}) == one);
  CHECK(executedAfter({.factor = "[1,1,64]{0,0,1}"}) == one);
  CHECK(executedAfter({.rows = "8"}) == one);
  CHECK(executedAfter({.rows = "3", .attributes = "Axes=[0,2] UseMean=0 UseVariance=1"}) == one);
}

TEST_CASE("prologues: what stays apart") {
  const auto isApart = [](const NormalizedRows& n) {
    CHECK(executedAfter(n) == "MEAN_VARIANCE_NORMALIZATION2 PRODUCT_WITH_WEIGHTS");
  };
  CHECK(executedAfter({}, "chains,siblings,prologues") == "MEAN_VARIANCE_NORMALIZATION2 PRODUCT_WITH_WEIGHTS");
  isApart({.places = false});
  isApart({.hasShift = true});
  isApart({.factor = "[1,1,1]"});
  isApart({.factor = "[1,1,64]{0,0,2}"});
  isApart({.attributes = "Axes=[2] UseMean=1 UseVariance=1 Epsilon=0.001"});
  isApart({.attributes = "Axes=[2] UseMean=0 UseVariance=0 Epsilon=0.001"});
  isApart({.attributes = "Axes=[2] UseMean=0 UseVariance=1 FusedActivation=RELU"});
  isApart({.rows = "3", .attributes = "Axes=[1,2] UseMean=0 UseVariance=1"});
  isApart({.rows = "3", .strides = "{0,128,1}"});
  // Of more rows, tiles would normalize them again and again.
  isApart({.rows = "16"});
  isApart({.outputRead = true});
  CHECK(executedAfter({.second = true}) == "MEAN_VARIANCE_NORMALIZATION2 PRODUCT_WITH_WEIGHTS PRODUCT_WITH_WEIGHTS");
}

}  // namespace
}  // namespace dimple::testing
