// Which normalizations and softmaxes of FLOAT32 read and store FLOAT16.
#include <doctest.h>

#include <string>
#include <vector>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

struct RowsOfCasts {
  std::string sizes = "[1,128,4,64]";
  std::string row = "MEAN_VARIANCE_NORMALIZATION1";
  std::string more = " Axes=[3] NormalizeVariance=1 Epsilon=0.01";
  std::string parameters = "[1,1,1,64]";  // of scale and bias; empty: there are none
  std::string x = "f16", y = "f16";       // types of the graph's tensors; f32: there is no CAST
  std::string castStrides{};              // of what is cast
  std::string activation{};
  bool readsCast = false, readsRows = false;  // as outputs of the graph, too
};

GraphBuilder graphOf(const RowsOfCasts& r) {
  GraphBuilder graph;
  const std::string single = cat("f32", r.sizes);
  const UINT none = UINT_MAX;
  UINT last = none;
  const auto add = [&](const std::string& line) {
    const UINT node = graph.op(line);
    if (last == none)
      graph.input(graph.inputs, node);
    else
      graph.edge(last, node);
    return last = node;
  };
  if (r.x != "f32")
    if (const UINT cast = add(cat("CAST InputTensor=", r.x, r.sizes, r.castStrides, " OutputTensor=", single));
        r.readsCast)
      graph.output(cast, 1);
  const std::string scale = cat("f32", r.parameters, "!");
  const UINT rows = add(cat(r.row, " InputTensor=", single,
                            r.parameters.empty() ? "" : cat(" ScaleTensor=", scale, " BiasTensor=", scale),
                            " OutputTensor=", single, r.more));
  if (!r.parameters.empty())
    for (const UINT i : {1u, 2u}) graph.input(graph.inputs, rows, i);
  if (r.readsRows) graph.output(rows, 1);
  if (!r.activation.empty()) add(cat(r.activation, " InputTensor=", single, " OutputTensor=", single));
  if (r.y != "f32") add(cat("CAST InputTensor=", single, " OutputTensor=", r.y, r.sizes));
  graph.output(last, 0);
  return graph;
}

Caps capsOfRows() {
  Caps caps;
  caps.maxInvocations = 1024;
  return caps;
}

// The names of the operators, and the kernel of the only one.
std::string castKernelOf(const RowsOfCasts& r, const Caps& caps = capsOfRows()) {
  const GraphBuilder builder = graphOf(r);
  const Graph graph = builder.rewritten({caps, optionsWithout("chains")});
  std::string names;
  for (const Node& node : graph.nodes())
    if (node.op && !node.runsAtInitialization) names += cat(names.empty() ? "" : " ", node.op->schema().name);
  if (names.find(' ') != names.npos) return names;
  return std::string(kernelName(builder.rewrittenPlan("", caps).plan.execution.back().kernel));
}

RowsOfCasts softmaxOf(const std::string& sizes) {
  return {.sizes = sizes, .row = "ACTIVATION_SOFTMAX1", .more = " Axes=[3]", .parameters = ""};
}

TEST_CASE("casts: before and behind rows") {
  CHECK(castKernelOf({}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf({.x = "f32"}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf({.y = "f32"}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf({.activation = "ACTIVATION_TANH"}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf({.sizes = "[1,128,1,4096]", .parameters = "[1,1,1,4096]"}) == "normalize_cast_rows.f32");
  CHECK(castKernelOf({.sizes = "[1,128,1,8192]", .parameters = ""}) == "normalize_cast_wide_rows.f32");
  CHECK(castKernelOf({.row = "MEAN_VARIANCE_NORMALIZATION2",
                      .more = " Axes=[3] UseMean=0 UseVariance=1 Epsilon=0.01"}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf({.sizes = "[128,4,8,8]",
                      .row = "MEAN_VARIANCE_NORMALIZATION",
                      .more = " CrossChannel=0 NormalizeVariance=1 Epsilon=0.01",
                      .parameters = ""}) == "normalize_cast_short_rows.f32");
  CHECK(castKernelOf(softmaxOf("[1,128,4,64]")) == "softmax_cast_short_rows.f32");
  CHECK(castKernelOf(softmaxOf("[1,128,1,4096]")) == "softmax_cast_rows.f32");
  CHECK(castKernelOf(softmaxOf("[1,128,1,8192]")) == "softmax_cast_wide_rows.f32");
  RowsOfCasts matrix = softmaxOf("[1,1,128,512]");
  matrix.row = "ACTIVATION_LOG_SOFTMAX";
  matrix.more = "";
  CHECK(castKernelOf(matrix) == "softmax_cast_rows.f32");
}

TEST_CASE("casts: on one side alone, where something else reads what the other makes") {
  CHECK(castKernelOf({.readsCast = true}) == "CAST NORMALIZATION");
  CHECK(castKernelOf({.readsRows = true}) == "NORMALIZATION CAST");
  CHECK(castKernelOf({.x = "i16"}) == "CAST NORMALIZATION");
  CHECK(castKernelOf({.y = "i16"}) == "NORMALIZATION CAST");
  CHECK(castKernelOf({.castStrides = "{32768,1,128,512}"}) == "CAST NORMALIZATION");
}

TEST_CASE("casts: what is left as it is") {
  const std::string all = "CAST MEAN_VARIANCE_NORMALIZATION1 CAST";
  CHECK(castKernelOf({}, Caps{}) == all);                                      // of DXIL
  CHECK(castKernelOf({.sizes = "[1,128,4,63]", .parameters = ""}) == all);     // in no vectors
  CHECK(castKernelOf({.sizes = "[1,128,4,32]", .parameters = ""}) == all);     // short
  CHECK(castKernelOf({.sizes = "[1,128,1,40000]", .parameters = ""}) == all);  // read twice
  CHECK(castKernelOf({.sizes = "[1,8,4,20000]", .parameters = ""}) == all);    // few
  CHECK(castKernelOf({.more = " Axes=[1] NormalizeVariance=1 Epsilon=0.01", .parameters = ""}) == all);
  CHECK(castKernelOf({.x = "f32", .y = "f32"}).starts_with("normalize_short_rows"));
  RowsOfCasts hardmax = softmaxOf("[1,128,4,64]");
  hardmax.row = "ACTIVATION_HARDMAX1";
  CHECK(castKernelOf(hardmax) == "CAST ACTIVATION_HARDMAX1 CAST");
}

}  // namespace
}  // namespace dimple::testing
