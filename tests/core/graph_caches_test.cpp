// Which attention between CASTs appends to the caller's cache.
#include <doctest.h>

#include <string>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

struct CachedAttention {
  bool castsValue = true;
  std::string castType = "f16";  // of what the outputs' CASTs make
  bool appends = true;           // there is a PastSequenceLengthsTensor
  int readsFloats = -1;          // this output of attention is an output of the graph, too
  bool sharesQuery = false;      // something else reads what the query's CAST makes
  std::string presentStrides{};  // of what the CASTs of the cache make
};

GraphBuilder graphOf(const CachedAttention& a) {
  GraphBuilder graph;
  const std::string row = "[2,1,64]", cache = "[2,4,32,16]";
  const UINT attention =
      graph.op(cat("MULTIHEAD_ATTENTION1 QueryTensor=f32", row, " KeyTensor=f32", row, " ValueTensor=f32", row,
                   a.appends ? " PastSequenceLengthsTensor=i32[2]" : "", " OutputTensor=f32", row,
                   a.appends ? cat(" OutputPresentKeyTensor=f32", cache, " OutputPresentValueTensor=f32", cache) : "",
                   " Scale=0.25 MaskFilterValue=-10000 QueryHeadCount=4 KeyValueHeadCount=4 MaskType=NONE"));
  for (UINT i = 0; i < 3; ++i) {
    if (i == 2 && !a.castsValue) {
      graph.input(i, attention, i);
      continue;
    }
    const UINT cast = graph.op(cat("CAST InputTensor=f16", row, " OutputTensor=f32", row));
    graph.input(i, cast);
    graph.edge(cast, attention, i);
    if (i == 0 && a.sharesQuery) graph.output(cast, 3);
  }
  if (a.appends) graph.input(3, attention, 11);
  for (UINT o = 0; o < (a.appends ? 3u : 1u); ++o) {
    const std::string& sizes = o == 0 ? row : cache;
    const UINT cast = graph.op(
        cat("CAST InputTensor=f32", sizes, " OutputTensor=", a.castType, sizes, o == 0 ? "" : a.presentStrides));
    graph.edge(attention, cast, 0, o);
    graph.output(cast, o);
    if (a.readsFloats == static_cast<int>(o)) graph.output(attention, 3, o);
  }
  return graph;
}

// Operators in their order, and the type of attention's output.
std::string rewrittenTo(const CachedAttention& a) {
  std::string names;
  const GraphBuilder builder = graphOf(a);
  const Graph graph = builder.rewritten({Caps{}, optionsWithout("chains")});
  for (const Node& node : graph.nodes()) {
    const bool halves = node.op->output().type == DML_TENSOR_DATA_TYPE_FLOAT16;
    names += cat(names.empty() ? "" : " ", node.op->schema().type == DML_OPERATOR_CAST ? "CAST"
                                           : halves                                    ? "HALVES"
                                                                                       : "FLOATS");
  }
  return names;
}

TEST_CASE("caches: attention appends in place of the CASTs around it") {
  CHECK(rewrittenTo({}) == "HALVES");
  CHECK(rewrittenTo({.sharesQuery = true}) == "HALVES CAST");
  CHECK(rewrittenTo({.presentStrides = "{4096,1024,32,1}"}) == "HALVES");
}

TEST_CASE("caches: the caller's cache is written by attention alone") {
  const GraphBuilder builder = graphOf({});
  const Plan plan = builder.rewrittenPlan().plan;
  size_t appends = 0;
  for (const Dispatch& dispatch : plan.execution)
    for (const BufferRange& range : dispatch.buffers)
      if (range.writes && range.kind == SlotKind::Output && range.index != 0) {
        CHECK(kernelName(dispatch.kernel).starts_with("attention_append"));
        ++appends;
      }
  CHECK(appends == 2);
}

TEST_CASE("caches: what is left as it is") {
  const std::string all = "FLOATS CAST CAST CAST CAST CAST CAST";
  CHECK(rewrittenTo({.castsValue = false}) == "FLOATS CAST CAST CAST CAST CAST");
  CHECK(rewrittenTo({.castType = "i16"}) == all);
  CHECK(rewrittenTo({.readsFloats = 1}) == all);
  CHECK(rewrittenTo({.appends = false}) == "FLOATS CAST CAST CAST CAST");
}

}  // namespace
}  // namespace dimple::testing
