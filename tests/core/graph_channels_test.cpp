// Which networks keep the channels of a place side by side between nodes.
#include <doctest.h>

#include "core/text.h"
#include "tests/core/graph_builder.h"
#include "tests/core/matrix_caps.h"

namespace dimple::testing {
namespace {

std::string pictures(uint32_t channels, uint32_t side, const char* type = "f16") {
  return cat(type, "[4,", channels, ",", side, ",", side, "]");
}

std::string convolutionLine(uint32_t from, uint32_t to, uint32_t side, uint32_t window, uint32_t stride = 1,
                            const char* type = "f16", uint32_t groups = 1) {
  const uint32_t padding = window / 2;
  return cat("CONVOLUTION InputTensor=", pictures(from, side, type), " FilterTensor=", type, "[", to, ",",
             from / groups, ",", window, ",", window, "]! OutputTensor=", pictures(to, side / stride, type),
             " DimensionCount=2 Strides=[", stride, ",", stride, "] Dilations=[1,1] StartPadding=[", padding, ",",
             padding, "] EndPadding=[", padding, ",", padding, "] OutputPadding=[0,0] GroupCount=", groups,
             " Mode=1 Direction=0");
}

std::string unaryLine(const char* name, uint32_t channels, uint32_t side, const char* type = "f16") {
  return cat(name, " InputTensor=", pictures(channels, side, type), " OutputTensor=", pictures(channels, side, type));
}

std::string addLine(uint32_t channels, uint32_t side) {
  const std::string all = pictures(channels, side);
  return cat("ELEMENT_WISE_ADD ATensor=", all, " BTensor=", all, " OutputTensor=", all);
}

std::string poolLine(const char* name, uint32_t channels, uint32_t side, uint32_t window, const char* more = "") {
  return cat(name, " InputTensor=", pictures(channels, side), " OutputTensor=", pictures(channels, side / window),
             " DimensionCount=2 Strides=[", window, ",", window, "] WindowSize=[", window, ",", window,
             "] StartPadding=[0,0] EndPadding=[0,0]", more);
}

// Nodes one behind the other; further inputs of theirs are inputs of the graph.
class Line {
 public:
  GraphBuilder graph;

  UINT add(const std::string& line) {
    const UINT node = graph.op(line);
    if (node == 0)
      graph.input(inputs_++, 0);
    else
      graph.edge(last_, node);
    last_ = node;
    return node;
  }
  UINT convolution(const std::string& line) {
    const UINT node = add(line);
    graph.input(inputs_++, node, 1);
    return node;
  }
  UINT last() const { return last_; }
  UINT newInput() { return inputs_++; }
  void finish() { graph.output(last_, 0); }

 private:
  UINT last_ = 0;
  UINT inputs_ = 0;
};

std::vector<std::string> executed(const Plan& plan) {
  std::vector<std::string> kernels;
  for (const Dispatch& dispatch : plan.execution) kernels.emplace_back(kernelName(dispatch.kernel));
  return kernels;
}
using Executed = std::vector<std::string>;

// Whether the tensors that nodes make lie with their channels side by side, by node.
std::vector<bool> channelsLast(const GraphBuilder& builder, const Caps& caps = capsOfMatrices()) {
  const Graph graph = builder.rewritten({caps, optionsWithout("chains")});
  std::vector<bool> last;
  for (const Node& node : graph.nodes()) {
    const Tensor& y = node.op->output();
    last.push_back(y.rank == 4 && y.strides[1] == 1 && y.sizes[2] != 1);
  }
  return last;
}
using Layouts = std::vector<bool>;

// Pooling, windows of one element and of 3 x 3, with steps, too, a sum of two, and a mean of all places.
Line network() {
  Line line;
  line.convolution(convolutionLine(3, 64, 56, 7, 2));
  line.add(poolLine("MAX_POOLING", 64, 28, 2));
  line.convolution(convolutionLine(64, 128, 14, 1));
  const UINT branch = line.add(unaryLine("ACTIVATION_TANH", 128, 14));
  line.convolution(convolutionLine(128, 128, 14, 3));
  const UINT sum = line.add(addLine(128, 14));
  line.graph.edge(branch, sum, 1);
  line.convolution(convolutionLine(128, 64, 14, 3, 2));
  line.add(poolLine("AVERAGE_POOLING", 64, 7, 7, " IncludePadding=0"));
  line.finish();
  return line;
}

TEST_CASE("channels: networks of FLOAT16 convolutions keep them side by side") {
  const Line line = network();
  CHECK(channelsLast(line.graph) == Layouts{true, true, true, true, true, false});
  const Plan plan = line.graph.rewrittenPlan("", capsOfMatrices()).plan;
  CHECK(executed(plan) == Executed{"convolution_cooperative_native.f16", "pool_vectors_channels.f16",
                                   "gemm_cooperative_native.f16", "convolution_cooperative_split_native.f16",
                                   "convolution_cooperative_split_native.f16", "pool_vectors_channels.f16"});
  const auto before = executed(line.graph.rewrittenPlan("channels", capsOfMatrices()).plan);
  CHECK(std::ranges::count(before, "pool_vectors_channels.f16") == 0);
}

TEST_CASE("channels: the products of one element's windows become one of all pictures") {
  Line line;
  line.convolution(convolutionLine(64, 64, 14, 1));
  line.convolution(convolutionLine(64, 128, 14, 1));
  line.convolution(convolutionLine(128, 64, 14, 1));
  line.finish();
  const Plan plan = line.graph.rewrittenPlan("", capsOfMatrices()).plan;
  // Rows, columns and depth, behind the grid.
  const auto& push = plan.execution[1].push;
  CHECK(std::vector(push.begin() + 4, push.begin() + 7) == std::vector<uint32_t>{4 * 14 * 14, 128, 64});
}

TEST_CASE("channels: what others know stays as it is") {
  Line line;
  line.convolution(convolutionLine(64, 64, 14, 3));
  const UINT first = line.last();
  const auto finish = [&] {
    line.convolution(convolutionLine(64, 64, 14, 3));
    line.finish();
  };
  SUBCASE("an output of the graph") {
    finish();
    line.graph.output(first, 1);
  }
  SUBCASE("what is read in another way") {
    finish();
    const UINT abs = line.graph.op("ELEMENT_WISE_ABS InputTensor=f16[50176] OutputTensor=f16[50176]");
    line.graph.edge(first, abs);
    line.graph.output(abs, 1);
  }
  SUBCASE("what an operator of another kind reads") {
    line.add(cat(unaryLine("ACTIVATION_SOFTMAX1", 64, 14), " Axes=[1]"));
    finish();
  }
  SUBCASE("what is added to an input of the graph") {
    const UINT sum = line.add(addLine(64, 14));
    line.graph.input(line.newInput(), sum, 1);
    finish();
  }
  SUBCASE("places of maxima") {
    const UINT pool = line.graph.op(
        "MAX_POOLING2 InputTensor=f16[4,64,14,14] OutputTensor=f16[4,64,14,14] OutputIndicesTensor=u32[4,64,14,14] "
        "DimensionCount=2 Strides=[1,1] WindowSize=[3,3] StartPadding=[1,1] EndPadding=[1,1] Dilations=[1,1]");
    line.graph.edge(first, pool);
    line.graph.output(pool, 1, 1);
    line.convolution(convolutionLine(64, 64, 14, 3));
    line.finish();
  }
  const auto layouts = channelsLast(line.graph);
  CHECK(std::ranges::count(layouts, true) == 0);
}

TEST_CASE("channels: only convolutions that gain change them") {
  Line line;
  Caps caps = capsOfMatrices();
  SUBCASE("a device without matrices") {
    caps.matrices = {};
    line.convolution(convolutionLine(64, 64, 14, 3));
    line.convolution(convolutionLine(64, 64, 14, 3));
  }
  SUBCASE("FLOAT32") {
    line.convolution(convolutionLine(64, 64, 14, 3, 1, "f32"));
    line.convolution(convolutionLine(64, 64, 14, 3, 1, "f32"));
  }
  SUBCASE("channels that are in no vectors") {
    line.convolution(convolutionLine(60, 60, 14, 3));
    line.convolution(convolutionLine(60, 60, 14, 3));
  }
  SUBCASE("a filter for each channel") {
    line.convolution(convolutionLine(64, 64, 14, 3, 1, "f16", 64));
    line.convolution(convolutionLine(64, 64, 14, 3, 1, "f16", 64));
  }
  line.finish();
  const auto layouts = channelsLast(line.graph, caps);
  CHECK(std::ranges::count(layouts, true) == 0);
}

TEST_CASE("channels: joined and divided ones, and sums over places") {
  GraphBuilder graph;
  const UINT a = graph.op(convolutionLine(64, 64, 14, 3));
  const UINT b = graph.op(convolutionLine(64, 64, 14, 1));
  const std::string part = pictures(64, 14);
  const UINT join =
      graph.op(cat("JOIN InputTensors=(", part, ",", part, ") OutputTensor=", pictures(128, 14), " Axis=1"));
  const UINT c = graph.op(convolutionLine(128, 128, 14, 3));
  const UINT split =
      graph.op(cat("SPLIT InputTensor=", pictures(128, 14), " OutputTensors=(", part, ",", part, ") Axis=1"));
  const UINT d = graph.op(convolutionLine(64, 64, 14, 3));
  const UINT mean =
      graph.op("REDUCE Function=AVERAGE InputTensor=f16[4,64,14,14] OutputTensor=f16[4,64,1,1] Axes=[2,3]");
  graph.input(0, a);
  graph.input(0, b);
  for (const UINT node : {a, b, c, d}) graph.input(1 + node, node, 1);
  graph.edge(a, join, 0);
  graph.edge(b, join, 1);
  graph.edge(join, c);
  graph.edge(c, split);
  graph.edge(split, d);
  graph.edge(split, mean, 0, 1);
  graph.output(d, 0);
  graph.output(mean, 1);
  const auto kernels = executed(graph.rewrittenPlan("", capsOfMatrices()).plan);
  CHECK(kernels == Executed{"convolution_cooperative_gathered_native.f16", "gemm_cooperative_native.f16",
                            "convolution_cooperative_split_native.f16", "reduce_vectors.f16",
                            "convolution_cooperative_split_native.f16", "reduce.f16"});
  const auto strides = [&](const Graph& rewritten, size_t node) {
    return std::next(rewritten.nodes().begin(), static_cast<std::ptrdiff_t>(node))->op->output().strides[1];
  };
  const Graph rewritten = graph.rewritten({capsOfMatrices(), optionsWithout("chains,views")});
  for (const UINT node : {a, b, join, c, split}) CHECK(strides(rewritten, node) == 1);
}

}  // namespace
}  // namespace dimple::testing
