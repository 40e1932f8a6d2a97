// Operators between DEQUANTIZE and QUANTIZE that take the integers, bit for bit as their nodes one by one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/random.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

// "$" stands for the type of the elements, behind the first sizes of inputs and of outputs that are such.
struct Chosen {
  std::vector<std::string> inputs;
  std::string line;
  std::vector<std::string> outputs;
  bool hasIndices = false;  // the last of the outputs is quantized by nothing
};

const std::vector<Chosen>& chosen() {
  static const std::vector<Chosen> kAll{
      {{"[1,3,5,9]"},
       "MAX_POOLING InputTensor=$[1,3,5,9] OutputTensor=$[1,3,4,5] Strides=[1,2] WindowSize=[3,3] StartPadding=[0,1] "
       "EndPadding=[1,1]",
       {"[1,3,4,5]"}},
      {{"[1,3,5,9]"},
       "MAX_POOLING1 InputTensor=$[1,3,5,9] OutputTensor=$[1,3,4,8] OutputIndicesTensor=u32[1,3,4,8] Strides=[1,1] "
       "WindowSize=[2,2] StartPadding=[0,0] EndPadding=[0,0]",
       {"[1,3,4,8]", "u32[1,3,4,8]"},
       true},
      {{"[2,3,5,7]", "[2,1,5,7]"},
       "JOIN InputTensors=($[2,3,5,7],$[2,1,5,7]) OutputTensor=$[2,4,5,7] Axis=1",
       {"[2,4,5,7]"}},
      {{"[2,4,5,7]"},
       "SPLIT InputTensor=$[2,4,5,7] OutputTensors=($[2,1,5,7],$[2,3,5,7]) Axis=1",
       {"[2,1,5,7]", "[2,3,5,7]"}},
      {{"[6,10]"}, "ELEMENT_WISE_IDENTITY InputTensor=$[10,6]{1,10} OutputTensor=$[10,6]", {"[10,6]"}},
      {{"[1,1,8,9]"},
       "SLICE1 InputTensor=$[1,1,8,9] OutputTensor=$[1,1,4,3] InputWindowOffsets=[0,0,1,2] InputWindowSizes=[1,1,7,6] "
       "InputWindowStrides=[1,1,2,-2]",
       {"[1,1,4,3]"}},
      {{"[1,2,4,5]"},
       "RESAMPLE1 InputTensor=$[1,2,4,5] OutputTensor=$[1,2,8,15] InterpolationMode=NEAREST_NEIGHBOR DimensionCount=4 "
       "Scales=[1,1,2,3] InputPixelOffsets=[0.5,0.5,0.5,0.5] OutputPixelOffsets=[-0.5,-0.5,-0.5,-0.5]",
       {"[1,2,8,15]"}},
      {{"[1,8,3,3]"}, "DEPTH_TO_SPACE InputTensor=$[1,8,3,3] OutputTensor=$[1,2,6,6] BlockSize=2", {"[1,2,6,6]"}},
      {{"[1,1,9,33]"}, "REDUCE Function=MAX InputTensor=$[1,1,9,33] OutputTensor=$[1,1,9,1] Axes=[3]", {"[1,1,9,1]"}},
      {{"[1,1,9,33]"},
       "TOP_K InputTensor=$[1,1,9,33] OutputValueTensor=$[1,1,9,4] OutputIndexTensor=u32[1,1,9,4] Axis=3 K=4",
       {"[1,1,9,4]", "u32[1,1,9,4]"},
       true},
      {{"[1,1,9,33]"},
       "ARGMAX InputTensor=$[1,1,9,33] OutputTensor=u32[1,1,9,1] Axes=[3] AxisDirection=INCREASING",
       {"u32[1,1,9,1]"},
       true},
      {{"[1,1,5,6]"}, "TILE InputTensor=$[1,1,5,6] OutputTensor=$[1,1,10,18] Repeats=[1,1,2,3]", {"[1,1,10,18]"}},
  };
  return kAll;
}

// How integers are dequantized and quantized again.
struct Scales {
  double scale = 0.03125;
  double scaleBehind = 0.03125;
  double zero = 3;
  bool isConstant = true;
};

size_t elementsOf(const std::string& sizes) {
  size_t all = 1;
  for (size_t at = 0; at != sizes.npos; at = sizes.find(',', at + 1)) all *= std::strtoul(&sizes[at + 1], nullptr, 10);
  return all;
}

// Of one element for all of a tensor of these sizes.
std::string shared(const std::string& type, const std::string& sizes) {
  std::string strides = "{0";
  for (const char c : sizes)
    if (c == ',') strides += ",0";
  return cat(type, sizes, strides, "}");
}

GraphOfLines graphOfChosen(const Chosen& of, const std::string& type, const std::string& real, const Scales& scales,
                           uint64_t seed) {
  Random random(seed);
  GraphOfLines graph;
  const DataType integers = type == "u8" ? DML_TENSOR_DATA_TYPE_UINT8 : DML_TENSOR_DATA_TYPE_INT8;
  const DataType floats = real == "f16" ? DML_TENSOR_DATA_TYPE_FLOAT16 : DML_TENSOR_DATA_TYPE_FLOAT32;
  const auto convert = [&](const char* line, const GraphSource& x, const std::string& sizes, bool isBack,
                           double scale) {
    const std::string from = isBack ? type : real, to = isBack ? real : type;
    const auto add = [&](DataType t, double number) {
      const std::vector<double> one{number};
      return scales.isConstant ? graph.constant(t, one) : graph.input(t, one);
    };
    return graph.node(cat(line, " InputTensor=", from, sizes, " ScaleTensor=", shared(real, sizes),
                          " ZeroPointTensor=", shared(type, sizes), " OutputTensor=", to, sizes),
                      {x, add(floats, scale), add(integers, scales.zero)});
  };
  std::vector<GraphSource> inputs;
  for (const std::string& sizes : of.inputs) {
    std::vector<double> drawn(elementsOf(sizes));
    const int64_t least = type == "u8" ? 0 : -128;
    for (double& number : drawn) number = static_cast<double>(random.range(least, least + 255));
    inputs.push_back(
        convert("ELEMENT_WISE_DEQUANTIZE_LINEAR", graph.input(integers, drawn), sizes, true, scales.scale));
  }
  std::string line = of.line;
  for (size_t at = 0; (at = line.find('$')) != line.npos;) line.replace(at, 1, real);
  GraphSource node = graph.node(line, inputs);
  for (uint32_t i = 0; i < of.outputs.size(); ++i) {
    node.output = i;
    const bool isIndices = of.hasIndices && i + 1 == of.outputs.size();
    graph.output(isIndices ? node
                           : convert("ELEMENT_WISE_QUANTIZE_LINEAR", node, of.outputs[i], false, scales.scaleBehind));
  }
  return graph;
}

// Dequantized, and quantized as another tensor of the same elements, as clients have it that turn views into strides.
GraphOfLines seenOtherwise(const std::string& read, const std::string& made, double scaleBehind) {
  Random random(1);
  GraphOfLines graph;
  std::vector<double> drawn(60);
  for (double& number : drawn) number = static_cast<double>(random.range(0, 255));
  const GraphSource scale = graph.constant(DML_TENSOR_DATA_TYPE_FLOAT32, std::vector<double>{0.0123});
  const GraphSource behind = graph.constant(DML_TENSOR_DATA_TYPE_FLOAT32, std::vector<double>{scaleBehind});
  const GraphSource real = graph.node(
      "ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=u8[6,10] ScaleTensor=f32[6,10]{0,0} OutputTensor=f32[6,10]",
      {graph.input(DML_TENSOR_DATA_TYPE_UINT8, drawn), scale});
  graph.output(graph.node(cat("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32", read, " ScaleTensor=f32", made,
                              made == "[60]" ? "{0}" : "{0,0}", " OutputTensor=u8", made),
                          {real, behind}));
  return graph;
}

size_t operatorsOf(const TestGraph& graph) {
  const auto planned = planTestGraph(graph, {});
  REQUIRE_MESSAGE(planned, planned.error().text);
  return static_cast<size_t>(
      std::ranges::count_if(planned->rewritten.nodes(), [](const Node& node) { return node.op != nullptr; }));
}

GPU_TEST_CASE("graphs: what chooses dequantized integers answers what its nodes answer") {
  StepMemory memory;
  uint64_t seed = 0;
  for (const Chosen& of : chosen())
    for (const char* type : {"u8", "i8"})
      for (const char* real : {"f32", "f16"}) {
        // The second scale is no power of 2, so that products are rounded.
        const double scale = ++seed % 2 ? 0.03125 : std::string(real) == "f16" ? 0.0123443603515625 : 0.0123f;
        const GraphOfLines lines = graphOfChosen(of, type, real, {scale, scale}, seed);
        const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareElements);
        CHECK_MESSAGE(failure.empty(), cat(of.line, " of ", type, ", ", real, ": ", failure));
        CHECK_MESSAGE(operatorsOf(lines.graph()) == 1, cat(of.line, " of ", type));
      }
}

GPU_TEST_CASE("graphs: dequantized integers that are seen otherwise and quantized again are copied") {
  StepMemory memory;
  constexpr std::pair<const char*, const char*> kTensors[] = {
      {"[10,6]{1,10}", "[10,6]"}, {"[60]", "[60]"}, {"[6,10]", "[6,10]"}};
  for (const auto& tensors : kTensors) {
    const char* read = tensors.first;
    const char* made = tensors.second;
    const GraphOfLines lines = seenOtherwise(read, made, 0.0123);
    const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareElements);
    CHECK_MESSAGE(failure.empty(), cat(read, ": ", failure));
    const auto planned = planTestGraph(lines.graph(), {});
    REQUIRE_MESSAGE(planned, planned.error().text);
    const auto isQuantizer = [](const Node& node) {
      return node.op && node.op->schema().type == DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR;
    };
    CHECK(std::ranges::none_of(planned->rewritten.nodes(), isQuantizer));
    CHECK(planned->plan.execution.size() == 1);
    CHECK(compareWithNodes(gpu, memory, seenOtherwise(read, made, 0.02).graph(), compareElements) == "");
  }
}

TEST_CASE("graphs: what chooses dequantized integers stays where they are not quantized to themselves") {
  const Chosen& pool = chosen().front();
  CHECK(operatorsOf(graphOfChosen(pool, "u8", "f32", {}, 1).graph()) == 1);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const Scales& scales :
       {Scales{.scale = 0.03125, .scaleBehind = 0.0625}, Scales{.scale = -0.03125, .scaleBehind = -0.03125},
        Scales{.scale = kNan, .scaleBehind = kNan}, Scales{.scale = 0, .scaleBehind = 0},
        Scales{.scale = 0x1p-140, .scaleBehind = 0x1p-140}, Scales{.scale = 0x1p125, .scaleBehind = 0x1p125},
        Scales{.isConstant = false}})
    CHECK_MESSAGE(operatorsOf(graphOfChosen(pool, "u8", "f32", scales, 1).graph()) > 1, scales.scale);
  // Integers of 9 bits' differences times this are no FLOAT16.
  CHECK(operatorsOf(graphOfChosen(pool, "u8", "f16", {.scale = 512, .scaleBehind = 512}, 1).graph()) > 1);
}

}  // namespace
}  // namespace dimple::testing
