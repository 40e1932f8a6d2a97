// What becomes strides of the operators that read or make what others only move.
#include <doctest.h>

#include "core/text.h"
#include "tests/core/graph_builder.h"

namespace dimple::testing {
namespace {

constexpr const char* kSplit =
    "SPLIT InputTensor=f32[2,8] OutputTensors=(f32[1,8],f32[1,8]) Axis=0";  // parts of 32 bytes
constexpr const char* kJoin = "JOIN InputTensors=(f32[1,8],f32[1,8]) OutputTensor=f32[2,8] Axis=0";
constexpr const char* kAbs8 = "ELEMENT_WISE_ABS InputTensor=f32[8] OutputTensor=f32[8]";
constexpr const char* kAbs16 = "ELEMENT_WISE_ABS InputTensor=f32[16] OutputTensor=f32[16]";

Caps alignedTo(uint32_t bytes) {
  Caps caps;
  caps.bufferOffsetAlignment = bytes;
  return caps;
}

std::string rangeText(const BufferRange& range) {
  static constexpr const char* kKinds[] = {"input", "output", "temporary", "persistent"};
  return cat(kKinds[static_cast<size_t>(range.kind)], range.index, "+", range.offset, "/", range.bytes);
}

// What the executed dispatches bind, one line each.
std::string rangesOf(const Plan& plan) {
  std::string lines;
  for (const Dispatch& dispatch : plan.execution) {
    lines += kernelName(dispatch.kernel);
    for (const BufferRange& range : dispatch.buffers) lines += cat(" ", rangeText(range));
    lines += "\n";
  }
  return lines;
}

// abs -> split -> abs of each part.
GraphBuilder splitGraph() {
  GraphBuilder graph;
  graph.op(kAbs16);
  graph.op(kSplit);
  graph.op(kAbs8);
  graph.op(kAbs8);
  graph.input(0, 0);
  graph.edge(0, 1);
  for (const UINT part : {0u, 1u}) {
    graph.edge(1, 2 + part, 0, part);
    graph.output(2 + part, part);
  }
  return graph;
}

TEST_CASE("views: what is split is read in parts") {
  const GraphBuilder graph = splitGraph();
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(rangesOf(plan) ==
        "unary_packed.f32 input0+0/64 temporary0+0/64\n"
        "unary_packed.f32 temporary0+32/32 output1+0/32\n"
        "unary_packed.f32 temporary0+0/32 output0+0/32\n");
  CHECK(totalsOf(plan.execution).barriers == 1);
  CHECK(graph.rewrittenPlan("views").plan.execution.size() == 5);
}

TEST_CASE("views: a part that begins where the device binds nothing is copied") {
  const GraphBuilder graph = splitGraph();
  CHECK(graph.rewrittenPlan("", alignedTo(32)).plan.execution.size() == 3);
  // The first part begins where it can be bound; the second is still made by the split, which makes nothing else.
  CHECK(rangesOf(graph.rewrittenPlan("", alignedTo(256)).plan) ==
        "unary_packed.f32 input0+0/64 temporary0+0/64\n"
        "unary_packed.f32 temporary0+0/32 output0+0/32\n"
        "copy_vectors.b32 temporary0+0/64 temporary0+256/32\n"
        "unary_packed.f32 temporary0+256/32 output1+0/32\n");
}

// abs of two inputs -> join -> abs, which is read by `last`.
GraphBuilder joinGraph(const char* join, const char* part, const char* last) {
  GraphBuilder graph;
  graph.op(last);
  graph.op(join);
  graph.edge(1, 0);
  graph.output(0, 0);
  for (const UINT i : {0u, 1u}) {
    graph.op(part);
    graph.input(i, 2 + i);
    graph.edge(2 + i, 1, i);
  }
  return graph;
}

TEST_CASE("views: what is joined is made in place") {
  const GraphBuilder graph = joinGraph(kJoin, kAbs8, kAbs16);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(rangesOf(plan) ==
        "unary_packed.f32 input0+0/32 temporary0+0/32\n"
        "unary_packed.f32 input1+0/32 temporary0+32/32\n"
        "unary_packed.f32 temporary0+0/64 output0+0/64\n");
  CHECK(totalsOf(plan.execution).barriers == 1);
  CHECK(plan.temporaryBytes == 256);
  CHECK(graph.rewrittenPlan("views").plan.execution.size() == 5);
  // With a part that cannot begin where it would have to.
  CHECK(rangesOf(graph.rewrittenPlan("", alignedTo(256)).plan) ==
        "unary_packed.f32 input0+0/32 temporary0+0/32\n"
        "unary_packed.f32 input1+0/32 temporary0+256/32\n"
        "copy_vectors.b32 temporary0+256/32 temporary0+0/64\n"
        "unary_packed.f32 temporary0+0/64 output0+0/64\n");
}

TEST_CASE("views: an operator makes with strides what is joined along rows") {
  const GraphBuilder graph = joinGraph("JOIN InputTensors=(f32[4,8],f32[4,8]) OutputTensor=f32[4,16] Axis=1",
                                       "ELEMENT_WISE_ABS InputTensor=f32[4,8] OutputTensor=f32[4,8]",
                                       "ELEMENT_WISE_ABS InputTensor=f32[64] OutputTensor=f32[64]");
  CHECK(rangesOf(graph.rewrittenPlan().plan) ==
        "unary_rows.f32 input0+0/128 temporary0+0/224\n"
        "unary_rows.f32 input1+0/128 temporary0+32/224\n"
        "unary_packed.f32 temporary0+0/256 output0+0/256\n");
  // The makers touch other words, though their ranges overlap.
  CHECK(totalsOf(graph.rewrittenPlan().plan.execution).barriers == 1);
  Caps ranges;
  ranges.barriersByRows = false;
  CHECK(totalsOf(graph.rewrittenPlan("", ranges).plan.execution).barriers == 2);
}

TEST_CASE("views: what else reads a part keeps it") {
  GraphBuilder graph = joinGraph(kJoin, kAbs8, kAbs16);
  SUBCASE("an output of the graph") { graph.output(2, 1); }
  SUBCASE("another node") {
    const UINT other = graph.op(kAbs8);
    graph.edge(2, other);
    graph.output(other, 1);
  }
  const auto ranges = rangesOf(graph.rewrittenPlan().plan);
  CHECK(ranges.find("copy_packed") != ranges.npos);  // of this part
  CHECK(ranges.find("input1+0/32 temporary0+") != ranges.npos);
}

TEST_CASE("views: joined inputs of the graph are copied, to an output of the graph") {
  GraphBuilder graph;
  graph.op(kJoin);
  graph.input(0, 0, 0);
  graph.op(kAbs8);
  graph.input(1, 1);
  graph.edge(1, 0, 1);
  graph.output(0, 0);
  CHECK(rangesOf(graph.rewrittenPlan().plan) ==
        "unary_packed.f32 input1+0/32 output0+32/32\n"
        "copy_packed input0+0/32 output0+0/32\n");
}

std::string sumOf(const char* part) {
  return cat("ELEMENT_WISE_ADD ATensor=", part, " BTensor=", part, " OutputTensor=", part);
}

TEST_CASE("views: a chain reads what is split in parts") {
  GraphBuilder graph;
  graph.op("ELEMENT_WISE_ABS InputTensor=f32[4,16] OutputTensor=f32[4,16]");
  graph.op("SPLIT InputTensor=f32[4,16] OutputTensors=(f32[4,8],f32[4,8]) Axis=1");
  graph.op(sumOf("f32[4,8]"));
  graph.op("ELEMENT_WISE_SQRT InputTensor=f32[4,8] OutputTensor=f32[4,8]");
  graph.input(0, 0);
  graph.edge(0, 1);
  graph.edge(1, 2, 0, 0);
  graph.edge(1, 2, 1, 1);
  graph.edge(2, 3);
  graph.output(3, 0);
  const std::string unused = " output0+0/4";
  CHECK(rangesOf(graph.chainedPlan().plan) == cat("unary_packed.f32 input0+0/256 temporary0+0/256\n"
                                                  "chain temporary0+0/224 temporary0+32/224",
                                                  unused, unused, unused, unused, " output0+0/128", unused, "\n"));
  CHECK(graph.chainedPlan("views").plan.execution.size() == 4);
}

TEST_CASE("views: a chain makes in place what is joined") {
  for (const char* type : {"f32", "f16"}) {
    CAPTURE(type);
    GraphBuilder graph;
    const auto tensor = [&](const char* sizes) { return cat(type, sizes); };
    graph.op(cat("JOIN InputTensors=(", tensor("[4,8]"), ",", tensor("[4,8]"), ") OutputTensor=", tensor("[4,16]"),
                 " Axis=1"));
    graph.output(0, 0);
    for (const UINT part : {0u, 1u}) {
      const UINT abs =
          graph.op(cat("ELEMENT_WISE_ABS InputTensor=", tensor("[4,8]"), " OutputTensor=", tensor("[4,8]")));
      const UINT sum = graph.op(sumOf(tensor("[4,8]").c_str()));
      graph.input(part, abs);
      graph.edge(abs, sum, 0);
      graph.input(part, sum, 1);
      graph.edge(sum, 0, part);
    }
    const Plan plan = graph.chainedPlan("", alignedTo(16)).plan;
    REQUIRE(plan.execution.size() == 2);
    const uint64_t row = type[1] == '3' ? 64 : 32;
    for (const size_t part : {0, 1}) {
      CHECK(kernelName(plan.execution[part].kernel) == "chain");
      CHECK(rangeText(plan.execution[part].buffers[6]) == cat("output0+", part * row / 2, "/", row * 7 / 2));
    }
    CHECK(graph.chainedPlan("views", alignedTo(16)).plan.execution.size() == 4);
  }
}

TEST_CASE("views: a chain reads nothing large across rows") {
  for (const bool large : {false, true}) {
    const std::string rows = large ? "1024" : "64";
    const std::string turned = cat("f32[", rows, ",1024]");
    GraphBuilder graph;
    graph.op(cat("ELEMENT_WISE_ABS InputTensor=f32[1024,", rows, "] OutputTensor=f32[1024,", rows, "]"));
    graph.op(cat("ELEMENT_WISE_IDENTITY InputTensor=", turned, "{1,", rows, "} OutputTensor=", turned));
    graph.op(sumOf(turned.c_str()));
    graph.op(cat("ELEMENT_WISE_SQRT InputTensor=", turned, " OutputTensor=", turned));
    graph.input(0, 0);
    graph.edge(0, 1);
    graph.edge(1, 2, 0);
    graph.input(1, 2, 1);
    graph.edge(2, 3);
    graph.output(3, 0);
    CHECK(graph.chainedPlan().plan.execution.size() == (large ? 3 : 2));
  }
}

TEST_CASE("views: what is joined twice is made where it lies in the end") {
  GraphBuilder graph;
  graph.op("JOIN InputTensors=(f32[2,8],f32[1,8]) OutputTensor=f32[3,8] Axis=0");
  graph.op(kJoin);
  for (UINT part = 0; part < 3; ++part) {
    graph.op(kAbs8);
    graph.input(part, 2 + part);
  }
  graph.edge(1, 0, 0);
  graph.edge(2, 1, 0);
  graph.edge(3, 1, 1);
  graph.edge(4, 0, 1);
  graph.output(0, 0);
  CHECK(rangesOf(graph.rewrittenPlan().plan) ==
        "unary_packed.f32 input0+0/32 output0+0/32\n"
        "unary_packed.f32 input1+0/32 output0+32/32\n"
        "unary_packed.f32 input2+0/32 output0+64/32\n");
}

TEST_CASE("views: a slice of a turned part is read where it is") {
  GraphBuilder graph;
  graph.op("SPLIT InputTensor=f32[4,6,8] OutputTensors=(f32[2,6,8],f32[2,6,8]) Axis=0");
  graph.op("ELEMENT_WISE_IDENTITY InputTensor=f32[6,2,8]{8,48,1} OutputTensor=f32[6,2,8]");
  graph.op(
      "SLICE1 InputTensor=f32[6,2,8] OutputTensor=f32[3,1,8] InputWindowOffsets=[1,1,0] InputWindowSizes=[5,1,8] "
      "InputWindowStrides=[2,1,1]");
  graph.op("ELEMENT_WISE_ABS InputTensor=f32[3,8] OutputTensor=f32[3,8]");
  graph.op("ELEMENT_WISE_ABS InputTensor=f32[2,6,8] OutputTensor=f32[2,6,8]");
  graph.input(0, 0);
  graph.edge(0, 1, 0, 1);
  graph.edge(1, 2);
  graph.edge(2, 3);
  graph.edge(0, 4);
  graph.output(3, 0);
  graph.output(4, 1);
  // Part 1 begins at 96, its row 1 at 144, and element 1 of that row at 152; from there every other of the 6.
  CHECK(rangesOf(graph.rewrittenPlan().plan) ==
        "unary_rows.f32 input0+608/160 output0+0/96\n"
        "unary_packed.f32 input0+0/384 output1+0/384\n");
}

TEST_CASE("views: readers of other sizes than what is moved, and of other types") {
  const auto dispatches = [](const char* reader) {
    GraphBuilder graph;
    graph.op("ELEMENT_WISE_IDENTITY InputTensor=f32[4,8]{1,4} OutputTensor=f32[4,8]");
    graph.op(reader);
    graph.input(0, 0);
    graph.edge(0, 1);
    graph.output(1, 0);
    return graph.rewrittenPlan().plan.execution.size();
  };
  CHECK(dispatches("ELEMENT_WISE_ABS InputTensor=f32[4,8] OutputTensor=f32[4,8]") == 1);
  CHECK(dispatches("ELEMENT_WISE_ABS InputTensor=f32[2,2,4,2] OutputTensor=f32[2,2,4,2]") == 1);
  CHECK(dispatches("ELEMENT_WISE_ABS InputTensor=f32[2,3]{8,2}@128 OutputTensor=f32[2,3]") == 1);
  CHECK(dispatches("ELEMENT_WISE_BIT_NOT InputTensor=u32[4,8] OutputTensor=u32[4,8]") == 1);
  // Its dimension runs through both of what is turned.
  CHECK(dispatches("ELEMENT_WISE_ABS InputTensor=f32[32] OutputTensor=f32[32]") == 2);
  CHECK(dispatches("ELEMENT_WISE_ABS InputTensor=f32[2,16] OutputTensor=f32[2,16]") == 2);
  CHECK(dispatches("ELEMENT_WISE_BIT_NOT InputTensor=u16[8,8] OutputTensor=u16[8,8]") == 2);
}

TEST_CASE("views: what is repeated is read repeatedly, but not made so") {
  GraphBuilder graph;
  graph.op("ELEMENT_WISE_ABS InputTensor=f32[1,8] OutputTensor=f32[1,8]");
  graph.op("ELEMENT_WISE_IDENTITY InputTensor=f32[4,8]{0,1} OutputTensor=f32[4,8]");
  graph.input(0, 0);
  graph.edge(0, 1);
  SUBCASE("read") {
    graph.op("ELEMENT_WISE_ADD ATensor=f32[4,8] BTensor=f32[4,8] OutputTensor=f32[4,8]");
    graph.edge(1, 2, 0);
    graph.input(1, 2, 1);
    graph.output(2, 0);
  }
  SUBCASE("made") { graph.output(1, 0); }
  CHECK(graph.rewrittenPlan().plan.execution.size() == 2);
}

TEST_CASE("views: large tensors are not read across their rows, but by products") {
  const auto saved = [](const char* turn, const char* reader) {
    GraphBuilder graph;
    graph.op(turn);
    graph.op(reader);
    graph.input(0, 0);
    graph.edge(0, 1);
    if (std::string_view(reader).find("BTensor") != std::string_view::npos) graph.input(1, 1, 1);
    graph.output(1, 0);
    return graph.rewrittenPlan("views").plan.execution.size() - graph.rewrittenPlan().plan.execution.size();
  };
  constexpr const char* kSmall = "ELEMENT_WISE_IDENTITY InputTensor=f32[512,512]{1,512} OutputTensor=f32[512,512]";
  constexpr const char* kLarge = "ELEMENT_WISE_IDENTITY InputTensor=f32[512,516]{1,512} OutputTensor=f32[512,516]";
  CHECK(saved(kSmall, "ELEMENT_WISE_ABS InputTensor=f32[512,512] OutputTensor=f32[512,512]") == 1);
  CHECK(saved(kLarge, "ELEMENT_WISE_ABS InputTensor=f32[512,516] OutputTensor=f32[512,516]") == 0);
  CHECK(saved(kLarge,
              "GEMM ATensor=f32[1,1,512,516] BTensor=f32[1,1,516,64] OutputTensor=f32[1,1,512,64] "
              "TransA=NONE TransB=NONE Alpha=1 Beta=0") == 1);
  // Rows stay rows.
  CHECK(saved("ELEMENT_WISE_IDENTITY InputTensor=f32[64,32,512]{512,32768,1} OutputTensor=f32[64,32,512]",
              "ELEMENT_WISE_ABS InputTensor=f32[64,32,512] OutputTensor=f32[64,32,512]") == 1);
}

TEST_CASE("views: an operator whose kernel would refuse the layout takes the copy") {
  // The first 60 of 61 columns: rows do not come in vectors of four.
  GraphBuilder graph;
  graph.op("SPLIT InputTensor=f32[1,1,512,61] OutputTensors=(f32[1,1,512,60],f32[1,1,512,1]) Axis=3");
  graph.op(
      "GEMM ATensor=f32[1,1,512,60] BTensor=f32[1,1,60,64] OutputTensor=f32[1,1,512,64] TransA=NONE TransB=NONE "
      "Alpha=1 Beta=0");
  graph.input(0, 0);
  graph.edge(0, 1, 0);
  graph.input(1, 1, 1);
  graph.output(1, 0);
  const Plan plan = graph.rewrittenPlan().plan;
  REQUIRE(plan.execution.size() == 2);  // what nothing reads is not copied
  CHECK(kernelName(plan.execution[1].kernel) == "gemm_vector_tile.f32");
}

TEST_CASE("views: a part that spans more than the device binds is copied") {
  const GraphBuilder graph = joinGraph("JOIN InputTensors=(f32[64,8],f32[64,8]) OutputTensor=f32[64,16] Axis=1",
                                       "ACTIVATION_SOFTMAX1 InputTensor=f32[64,8] OutputTensor=f32[64,8] Axes=[1]",
                                       "ELEMENT_WISE_ABS InputTensor=f32[1024] OutputTensor=f32[1024]");
  CHECK(graph.rewrittenPlan().plan.execution.size() == 3);
  Caps caps;
  caps.maxBufferRange = 2048;
  CHECK(graph.rewrittenPlan("", caps).plan.execution.size() > 5);
}

TEST_CASE("views: nothing is overwritten whose other part is read") {
  GraphBuilder first;
  first.op(kAbs16);
  first.op(kSplit);
  first.op(kAbs8);
  first.op(kAbs8);
  first.input(0, 0);
  first.edge(0, 1);
  first.edge(1, 2, 0, 1);
  first.edge(2, 3);
  first.output(3, 0);
  CHECK(rangesOf(first.rewrittenPlan().plan) ==
        "unary_packed.f32 input0+0/64 temporary0+0/64\n"
        "unary_packed.f32 temporary0+32/32 temporary0+256/32\n"
        "unary_packed.f32 temporary0+256/32 output0+0/32\n");
}

TEST_CASE("views: constants are moved at initialization") {
  constexpr float kMoved[16] = {};
  GraphBuilder graph;
  graph.constant(kMoved, sizeof kMoved);
  graph.op(kSplit);
  graph.op("ELEMENT_WISE_ADD ATensor=f32[8] BTensor=f32[8] OutputTensor=f32[8]");
  graph.edge(0, 1);
  graph.edge(1, 2, 0, 1);
  graph.input(0, 2, 1);
  graph.output(2, 0);
  const Plan plan = graph.rewrittenPlan().plan;
  CHECK(rangesOf(plan) == "binary_packed.f32 persistent0+0/32 input0+0/32 output0+0/32\n");
  CHECK(plan.persistentBytes == 256);
}

}  // namespace
}  // namespace dimple::testing
