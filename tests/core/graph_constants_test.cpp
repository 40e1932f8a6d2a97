// What of a graph executes once, at initialization.
#include <doctest.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kAbs = "ELEMENT_WISE_ABS InputTensor=f32[64] OutputTensor=f32[64]";
constexpr const char* kAddTable = "ELEMENT_WISE_ADD ATensor=f32[64] BTensor=f32[64] OutputTensor=f32[64]";
constexpr std::array<float, 64> kTable{1, 2, 3};

std::vector<std::string> kernelsOf(const std::vector<Dispatch>& dispatches) {
  std::vector<std::string> kernels;
  for (const Dispatch& dispatch : dispatches) kernels.emplace_back(kernelName(dispatch.kernel));
  return kernels;
}

using Names = std::vector<std::string>;

TEST_CASE("constants: what depends on constants alone executes at initialization, and only its result is kept") {
  GraphBuilder graph;
  graph.op(kAddTable);  // before the nodes that it takes from
  graph.op(kAbs);
  graph.op(kAbs);
  graph.constant(kTable.data(), sizeof kTable);
  graph.edge(3, 2);
  graph.edge(2, 1);
  graph.edge(1, 0, 1);
  graph.input(0, 0, 0);
  graph.output(0, 0);
  const Plan folded = graph.rewrittenPlan().plan;
  CHECK(kernelsOf(folded.initialization) == Names{"constant", "unary_packed.f32", "unary_packed.f32"});
  CHECK(kernelsOf(folded.execution) == Names{"binary_packed.f32"});
  CHECK(folded.persistentBytes == 256);
  CHECK(folded.initializationBytes == 256);  // in place
  CHECK(folded.temporaryBytes == 0);
  CHECK(folded.initialization[1].barrierBefore);
  CHECK(folded.execution[0].buffers[1].kind == SlotKind::Persistent);

  const Plan without = graph.rewrittenPlan("constants").plan;
  CHECK(kernelsOf(without.initialization) == Names{"constant"});
  CHECK(without.execution.size() == 3);
  CHECK(without.initializationBytes == 0);
}

TEST_CASE("constants: a gather reads indices that are constants where they are kept") {
  static constexpr std::array<uint32_t, 4> kIndices{5, 0, 3, 3};
  for (const bool computed : {false, true}) {
    GraphBuilder graph;
    graph.op("GATHER InputTensor=f32[6,64] IndicesTensor=u32[1,4] OutputTensor=f32[4,64] Axis=0 IndexDimensions=1");
    graph.constant(kIndices.data(), sizeof kIndices);
    graph.input(0, 0, 0);
    graph.output(0, 0);
    if (computed) {
      graph.op("ELEMENT_WISE_ADD ATensor=u32[1,4] BTensor=u32[1,4] OutputTensor=u32[1,4]");
      graph.edge(1, 2, 0);
      graph.edge(1, 2, 1);
    }
    graph.edge(computed ? 2 : 1, 0, 1);
    const Plan plan = graph.rewrittenPlan().plan;
    CHECK(plan.initialization.size() == (computed ? 2 : 1));
    CHECK(plan.persistentBytes == 256);  // one place of them
    CHECK(plan.temporaryBytes == 0);
    REQUIRE(plan.execution.size() == 1);
    CHECK(kernelName(plan.execution[0].kernel).starts_with("gather"));
    CHECK(std::ranges::any_of(plan.execution[0].buffers,
                              [](const BufferRange& range) { return range.kind == SlotKind::Persistent; }));
  }
}

TEST_CASE("constants: inputs that DML owns count, others do not") {
  for (const bool owned : {true, false}) {
    GraphBuilder graph;
    const std::string mark = owned ? "!" : "";
    graph.op(cat("ELEMENT_WISE_ADD ATensor=f32[64]! BTensor=f32[64]", mark, " OutputTensor=f32[64]"));
    graph.op(kAddTable);
    graph.input(0, 0, 0);
    graph.input(1, 0, 1);
    graph.edge(0, 1, 0);
    graph.input(2, 1, 1);
    graph.output(1, 0);
    const GraphPlan planned = graph.rewrittenPlan();
    CHECK(planned.inputs[0].ownedByDml);
    CHECK(planned.inputs[1].ownedByDml == owned);
    CHECK(planned.plan.execution.size() == (owned ? 1 : 2));
    CHECK(kernelsOf(planned.plan.initialization) == Names{owned ? "binary_packed.f32" : "copy_packed"});
    CHECK(planned.plan.persistentBytes == 256);
    if (!owned) continue;
    CHECK(planned.plan.initialization[0].buffers[1].kind == SlotKind::Input);
    CHECK(planned.plan.initialization[0].buffers[1].index == 1);
  }
}

TEST_CASE("constants: an owned input that several nodes read is kept once") {
  GraphBuilder graph;
  for (UINT n = 0; n < 3; ++n) {
    graph.op("ELEMENT_WISE_ADD ATensor=f32[64] BTensor=f32[64]! OutputTensor=f32[64]");
    n ? graph.edge(n - 1, n, 0) : graph.input(0, n, 0);
    graph.input(1, n, 1);
  }
  graph.output(2, 0);
  for (const char* without : {"", "constants"}) {
    const Plan plan = graph.rewrittenPlan(without).plan;
    CHECK(plan.persistentBytes == 256);
    CHECK(plan.initialization.size() == 1);
    CHECK(plan.initialization[0].label == "graph input 1");
  }
}

TEST_CASE("constants: an output of the graph that is constant is written at every execution") {
  GraphBuilder graph;
  graph.constant(kTable.data(), sizeof kTable);
  graph.op(kAbs, "magnitudes");
  graph.edge(0, 1);
  graph.output(1, 0);
  graph.output(1, 1);
  graph.output(0, 2);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(plan.persistentBytes == 512);
  REQUIRE(kernelsOf(plan.execution) == Names{"copy_packed", "copy_packed", "copy_packed"});
  for (uint32_t g = 0; g < 3; ++g) {
    CHECK(plan.execution[g].buffers[0].kind == SlotKind::Persistent);
    CHECK(plan.execution[g].buffers[1].kind == SlotKind::Output);
    CHECK(plan.execution[g].buffers[1].index == g);
  }
  CHECK(plan.execution[0].label == "magnitudes (ELEMENT_WISE_ABS)");
}

TEST_CASE("constants: a filter that is made once is prepared once") {
  GraphBuilder graph;
  constexpr const char* kFilter = "CAST InputTensor=f16[64,64,3,3]! OutputTensor=f32[64,64,3,3]";
  graph.op(kFilter);
  graph.op(
      "CONVOLUTION InputTensor=f32[1,64,56,56] FilterTensor=f32[64,64,3,3] OutputTensor=f32[1,64,56,56] "
      "Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1");
  graph.input(0, 0);
  graph.edge(0, 1, 1);
  graph.input(1, 1, 0);
  graph.output(1, 0);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(kernelsOf(plan.initialization) == Names{"cast_vectors", "winograd_filter_2.f32"});
  CHECK(plan.persistentBytes == 64 * 64 * (9 + 16) * 4 + 64 * 4);  // windows that overflow take the filter as it is
  const auto without = kernelsOf(graph.rewrittenPlan("constants").plan.execution);
  CHECK(without.size() == plan.execution.size() + 2);
}

TEST_CASE("constants: nodes that prepare the same constant share what they prepare") {
  std::vector<float> filter(64 * 64 * 9);
  GraphBuilder graph;
  for (int n = 0; n < 2; ++n)
    graph.op(
        "CONVOLUTION InputTensor=f32[1,64,56,56] FilterTensor=f32[64,64,3,3] OutputTensor=f32[1,64,56,56] "
        "Strides=[1,1] Dilations=[1,1] StartPadding=[1,1] EndPadding=[1,1] OutputPadding=[0,0] GroupCount=1");
  for (UINT n = 0; n < 2; ++n) {
    graph.constant(filter.data(), filter.size() * 4);
    graph.edge(2 + n, n, 1);
  }
  graph.input(0, 0, 0);
  graph.edge(0, 1, 0);
  graph.output(1, 0);
  CHECK(graph.rewrittenPlan().plan.persistentBytes == 64 * 64 * (9 + 16) * 4 + 64 * 4);
}

TEST_CASE("constants: what takes no input is made once, unless it is large") {
  const auto executes = [](const char* size) {
    GraphBuilder graph;
    graph.op(cat("FILL_VALUE_CONSTANT OutputTensor=f32[", size, "] ValueDataType=FLOAT32 Value=3"));
    graph.op(cat("ELEMENT_WISE_ADD ATensor=f32[", size, "] BTensor=f32[", size, "] OutputTensor=f32[", size, "]"));
    graph.edge(0, 1, 0);
    graph.input(0, 1, 1);
    graph.output(1, 0);
    return graph.rewrittenPlan().plan.execution.size();
  };
  CHECK(executes("4194304") == 1);
  CHECK(executes("4194305") == 2);
}

TEST_CASE("constants: initialization shares its temporary memory by lifetimes") {
  GraphBuilder graph;
  graph.constant(kTable.data(), sizeof kTable);
  constexpr const char* kReverse =
      "REVERSE_SUBSEQUENCES InputTensor=f32[1,64] SequenceLengthsTensor=u32[1,1]! OutputTensor=f32[1,64] Axis=1";
  for (UINT n = 1; n <= 10; ++n) {
    graph.op(kReverse);
    graph.edge(n - 1, n, 0);
    graph.input(0, n, 1);
  }
  graph.output(10, 0);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(plan.initialization.size() == 11);
  CHECK(plan.initializationBytes == 2 * 256);
  CHECK(plan.persistentBytes == 256);
  CHECK(plan.execution.size() == 1);
}

}  // namespace
}  // namespace dimple::testing
