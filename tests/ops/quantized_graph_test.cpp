// Graphs of dequantized products, convolutions and averages, which take integers, beside their nodes one by one.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/random.h"
#include "tests/core/matrix_caps.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// Where scales are powers of 2 and sums are short, every step is exact, and so are bits.
struct Drawn {
  Random random;
  bool exact = true;

  double scale(int power) { return exact ? std::ldexp(1.0, power) : std::ldexp(1 + random.unit(), power); }
  std::string type() { return random.chance(0.5) ? "u8" : "i8"; }
};

DataType typeOf(const std::string& name) {
  return name == "u8" ? DML_TENSOR_DATA_TYPE_UINT8 : DML_TENSOR_DATA_TYPE_INT8;
}

// Integers with the ends of the type among them.
std::vector<double> integers(Drawn& drawn, const std::string& type, size_t count) {
  std::vector<double> numbers(count);
  const int64_t least = type == "u8" ? 0 : -128;
  for (double& number : numbers)
    number = static_cast<double>(drawn.random.chance(0.05) ? least + 255 * drawn.random.range(0, 1)
                                                           : drawn.random.range(least, least + 255));
  return numbers;
}

std::vector<double> scales(Drawn& drawn, size_t count, int power) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = drawn.scale(power + static_cast<int>(drawn.random.below(3)));
  return numbers;
}

std::string text(const std::vector<uint32_t>& values, char open = '[') {
  std::string out(1, open);
  for (const uint32_t value : values) out += cat(out.size() == 1 ? "" : ",", value);
  return out + (open == '[' ? "]" : "}");
}

size_t count(const std::vector<uint32_t>& sizes) {
  size_t all = 1;
  for (const uint32_t size : sizes) all *= size;
  return all;
}

// A tensor of integers, dequantized by one scale and zero point, or by those of each place along a dimension.
GraphSource dequantized(GraphOfLines& graph, Drawn& drawn, const std::string& type, const std::vector<uint32_t>& sizes,
                        int power, int channel, bool weights) {
  const size_t parameters = channel < 0 ? 1 : sizes[static_cast<size_t>(channel)];
  std::vector<uint32_t> strides(sizes.size());
  if (channel >= 0) strides[static_cast<size_t>(channel)] = 1;
  const bool hasZero = drawn.random.chance(0.7);
  const std::string ofEach = cat(text(sizes), text(strides, '{'));
  const auto add = [&](DataType data, const std::vector<double>& numbers) {
    return weights ? graph.constant(data, numbers) : graph.input(data, numbers);
  };
  std::vector<GraphSource> inputs{add(typeOf(type), integers(drawn, type, count(sizes))),
                                  add(DML_TENSOR_DATA_TYPE_FLOAT32, scales(drawn, parameters, power))};
  if (hasZero) inputs.push_back(add(typeOf(type), integers(drawn, type, parameters)));
  return graph.node(cat("ELEMENT_WISE_DEQUANTIZE_LINEAR InputTensor=", type, text(sizes), " ScaleTensor=f32", ofEach,
                        hasZero ? cat(" ZeroPointTensor=", type, ofEach) : "", " OutputTensor=f32", text(sizes)),
                    inputs);
}

GraphSource quantized(GraphOfLines& graph, Drawn& drawn, const GraphSource& x, const std::vector<uint32_t>& sizes,
                      int power, const std::string& type) {
  const std::string ofAll = cat(text(sizes), text(std::vector<uint32_t>(sizes.size()), '{'));
  std::vector<GraphSource> inputs{x, graph.constant(DML_TENSOR_DATA_TYPE_FLOAT32, scales(drawn, 1, power))};
  const bool hasZero = drawn.random.chance(0.7);
  if (hasZero) inputs.push_back(graph.constant(typeOf(type), integers(drawn, type, 1)));
  return graph.node(cat("ELEMENT_WISE_QUANTIZE_LINEAR InputTensor=f32", text(sizes), " ScaleTensor=f32", ofAll,
                        hasZero ? cat(" ZeroPointTensor=", type, ofAll) : "", " OutputTensor=", type, text(sizes)),
                    inputs);
}

std::vector<double> biases(Drawn& drawn, size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers)
    number = drawn.exact ? static_cast<double>(drawn.random.range(-4000, 4000)) / 64 : 120 * drawn.random.unit() - 60;
  return numbers;
}

// Nothing, a RELU, or a CLIP of either operator.
GraphSource activated(GraphOfLines& graph, Drawn& drawn, const GraphSource& x, const std::vector<uint32_t>& sizes) {
  constexpr const char* kActivations[] = {"ACTIVATION_RELU", "ELEMENT_WISE_CLIP Min=-1.5 Max=6",
                                          "ELEMENT_WISE_CLIP1 MinMaxDataType=FLOAT32 Min=0 Max=6"};
  if (drawn.random.chance(0.3)) return x;
  return graph.node(
      cat(drawn.random.pick(kActivations), " InputTensor=f32", text(sizes), " OutputTensor=f32", text(sizes)), {x});
}

GraphOfLines convolution(Drawn& drawn) {
  GraphOfLines graph;
  Random& random = drawn.random;
  const uint32_t groups = random.chance(0.3) ? random.size(2, 3) : 1;
  const bool depthwise = groups == 1 && random.chance(0.2);
  const uint32_t channels = depthwise ? 1 : random.size(1, 3) * (random.chance(0.5) ? 16 : 5);
  const uint32_t filters = depthwise ? 1 : random.size(1, 40);
  const uint32_t all = depthwise ? 24 : groups;
  const uint32_t window = random.size(0, 1) * 2 + 1;
  const uint32_t stride = random.size(1, 2);
  const uint32_t side = random.size(4, 12);
  const uint32_t made = (side + 2 * (window / 2) - window) / stride + 1;
  const std::vector<uint32_t> xSizes{random.size(1, 2), channels * all, side, side};
  const std::vector<uint32_t> filterSizes{filters * all, channels, window, window};
  const std::vector<uint32_t> ySizes{xSizes[0], filters * all, made, made};
  const bool hasBias = random.chance(0.6);
  const GraphSource x = dequantized(graph, drawn, drawn.type(), xSizes, -4, -1, false);
  const GraphSource filter =
      dequantized(graph, drawn, drawn.type(), filterSizes, -6, random.chance(0.6) ? 0 : -1, true);
  std::vector<GraphSource> inputs{x, filter};
  if (hasBias) inputs.push_back(graph.constant(DML_TENSOR_DATA_TYPE_FLOAT32, biases(drawn, ySizes[1])));
  const std::string padding = text({window / 2, window / 2});
  const GraphSource convolved = graph.node(
      cat("CONVOLUTION InputTensor=f32", text(xSizes), " FilterTensor=f32", text(filterSizes),
          hasBias ? cat(" BiasTensor=f32[1,", ySizes[1], ",1,1]") : "", " OutputTensor=f32", text(ySizes),
          " Mode=CROSS_CORRELATION Strides=", text({stride, stride}), " Dilations=[1,1] StartPadding=", padding,
          " EndPadding=", padding, " OutputPadding=[0,0] GroupCount=", all),
      inputs);
  const GraphSource positive = activated(graph, drawn, convolved, ySizes);
  graph.output(random.chance(0.7) ? quantized(graph, drawn, positive, ySizes, 1, drawn.type()) : positive);
  return graph;
}

GraphOfLines product(Drawn& drawn) {
  GraphOfLines graph;
  Random& random = drawn.random;
  const bool vectors = random.chance(0.5);
  const auto size = [&] { return vectors ? 16 * random.size(1, 5) : random.size(1, 70); };
  const uint32_t rows = size(), columns = size(), depth = size(), batches = random.size(1, 2);
  const bool turnsA = random.chance(0.3), turnsB = random.chance(0.5);
  const auto sizes = [&](bool turned, uint32_t first, uint32_t second) {
    return turned ? std::vector<uint32_t>{1, batches, second, first} : std::vector<uint32_t>{1, batches, first, second};
  };
  const auto aSizes = sizes(turnsA, rows, depth), bSizes = sizes(turnsB, depth, columns);
  const std::vector<uint32_t> ySizes{1, batches, rows, columns};
  const bool hasC = random.chance(0.6);
  const int ofB = random.chance(0.6) ? (turnsB ? 2 : 3) : -1;
  std::vector<GraphSource> inputs{dequantized(graph, drawn, drawn.type(), aSizes, -4, -1, false),
                                  dequantized(graph, drawn, drawn.type(), bSizes, -6, ofB, random.chance(0.5))};
  const bool ofColumns = random.chance(0.7);
  if (hasC)
    inputs.push_back(graph.input(DML_TENSOR_DATA_TYPE_FLOAT32, biases(drawn, ofColumns ? columns : count(ySizes))));
  GraphSource made = graph.node(cat("GEMM ATensor=f32", text(aSizes), " BTensor=f32", text(bSizes),
                                    hasC ? cat(" CTensor=f32", text(ySizes), ofColumns ? "{0,0,0,1}" : "") : "",
                                    " OutputTensor=f32", text(ySizes), " TransA=", turnsA ? "TRANSPOSE" : "NONE",
                                    " TransB=", turnsB ? "TRANSPOSE" : "NONE", " Alpha=1 Beta=1"),
                                inputs);
  made = activated(graph, drawn, made, ySizes);
  if (random.chance(0.6)) made = quantized(graph, drawn, made, ySizes, 1, drawn.type());
  graph.output(made);
  return graph;
}

GraphOfLines average(Drawn& drawn) {
  GraphOfLines graph;
  Random& random = drawn.random;
  const std::vector<uint32_t> xSizes{random.size(1, 2), random.size(1, 9), 8, 10};
  const std::vector<uint32_t> ySizes{xSizes[0], xSizes[1], 5, 9};
  const std::string type = drawn.type();
  const bool hasDilations = random.chance(0.5);
  // Windows at edges have three, six or other numbers of places, unless their padding counts.
  const bool includesPadding = drawn.exact || random.chance(0.5);
  const GraphSource averages =
      graph.node(cat(hasDilations ? "AVERAGE_POOLING1 Dilations=[1,1]" : "AVERAGE_POOLING", " InputTensor=f32",
                     text(xSizes), " OutputTensor=f32", text(ySizes),
                     " Strides=[2,1] WindowSize=[2,4] StartPadding=[1,0] EndPadding=[1,2] IncludePadding=",
                     includesPadding ? 1 : 0),
                 {dequantized(graph, drawn, type, xSizes, -4, -1, false)});
  graph.output(quantized(graph, drawn, averages, ySizes, -4, type));
  return graph;
}

// Integers that are one off at most, where a quotient lies between two; floats to a small part of the sums that they
// are made of, which bounds may hide.
std::string compareNearly(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone) {
  const oracle::Array a = oracle::read(tensor, whole);
  const oracle::Array b = oracle::read(tensor, alone);
  const auto isNear = [](double x, double y) { return std::abs(x - y) <= 0x1p-10 + 0x1p-18 * std::abs(y); };
  for (size_t i = 0; i < a.real.size(); ++i)
    if (!isNear(a.real[i], b.real[i])) return differing(i, a.real[i], b.real[i]);
  size_t others = 0;
  for (size_t i = 0; i < a.whole.size(); ++i) {
    const auto difference = a.whole[i] - b.whole[i];
    if (difference != 0) ++others;
    if (difference > 1 || difference < -1) return cat("element ", i, " is ", a.whole[i], ", alone ", b.whole[i], ".");
  }
  constexpr size_t kMost = 100;  // of as many elements one
  return others * kMost > a.whole.size() + kMost ? cat(others, " of ", a.whole.size(), " elements differ.") : "";
}

bool takesIntegers(const TestGraph& graph) {
  const auto planned = planTestGraph(graph, {capsOfAllMatrices(), optionsWithout("estimates")});
  REQUIRE_MESSAGE(planned, planned.error().text);
  return std::ranges::none_of(planned->rewritten.nodes(), [](const Node& node) {
    const auto type = node.op ? node.op->schema().type : DML_OPERATOR_INVALID;
    return type == DML_OPERATOR_CONVOLUTION || type == DML_OPERATOR_GEMM || type == DML_OPERATOR_AVERAGE_POOLING ||
           type == DML_OPERATOR_AVERAGE_POOLING1;
  });
}

// All that can be become integers, whatever kernels the device has for them.
void checkQuantized(GraphOfLines (*make)(Drawn&), CompareBytes compare, bool exact) {
  Gpu& gpu = sharedGpu(leaveOut("estimates"));
  StepMemory memory;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Drawn drawn{Random(seed), exact};
    const GraphOfLines lines = make(drawn);
    CHECK_MESSAGE(takesIntegers(lines.graph()), seed);
    const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compare);
    CHECK_MESSAGE(failure.empty(), cat("seed ", seed, ": ", failure));
  }
}

constexpr const char* kReason = "its kernels are those of other cases";

GPU_TEST_CASE("graphs: quantized convolutions of exact scales answer what their nodes answer" *
              leftOut(Run::QuickD3d12, kReason)) {
  checkQuantized(convolution, compareElements, true);
}

GPU_TEST_CASE("graphs: quantized products of exact scales answer what their nodes answer" *
              leftOut(Run::QuickD3d12, kReason)) {
  checkQuantized(product, compareElements, true);
}

GPU_TEST_CASE("graphs: quantized convolutions are rounded as their nodes are, but for halves" *
              leftOut(Run::QuickD3d12, kReason)) {
  checkQuantized(convolution, compareNearly, false);
}

GPU_TEST_CASE("graphs: quantized products are rounded as their nodes are, but for halves" *
              leftOut(Run::QuickD3d12, kReason)) {
  checkQuantized(product, compareNearly, false);
}

GPU_TEST_CASE("graphs: averages of exact scales answer what their nodes answer") {
  checkQuantized(average, compareElements, true);
}

GPU_TEST_CASE("graphs: averages are rounded as their nodes are, but for halves") {
  checkQuantized(average, compareNearly, false);
}

}  // namespace
}  // namespace dimple::testing
