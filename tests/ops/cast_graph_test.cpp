// Operators between CASTs: normalizations, softmaxes and reductions that read and store what CASTs do, and others that
// become operators of FLOAT16.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/conformance/generators/generator.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/random.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

struct CastRows {
  uint32_t rows = 0, elements = 0;
  std::string row{};
  bool scales = false;
  bool castsBefore = true, castsBehind = true;
  double largest = 4;
  bool special = false;  // infinities, NaN and denormals among them
  int factor = -1;       // the operand of a product behind that is a row of FLOAT16
};

std::vector<double> numbers(Random& random, size_t count, double largest) {
  std::vector<double> drawn(count);
  for (double& number : drawn) number = (2 * random.unit() - 1) * largest;
  return drawn;
}

GraphOfLines graphOf(const CastRows& c, uint64_t seed) {
  Random random(seed);
  GraphOfLines graph;
  const std::string sizes = cat("[1,1,", c.rows, ",", c.elements, "]");
  const std::string half = cat("f16", sizes);
  const std::string single = cat("f32", sizes);
  std::vector<double> x = numbers(random, size_t{c.rows} * c.elements, c.largest);
  if (c.special) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double specials[] = {kInfinity, -kInfinity, std::nan(""), 0x1p-24, -0x1.8p-15, 65504, -0.0};
    for (uint32_t row = 0; row < c.rows; ++row)
      if (random.chance(0.5)) x[size_t{row} * c.elements + random.below(c.elements)] = random.pick(specials);
  }
  GraphSource last = graph.input(c.castsBefore ? DML_TENSOR_DATA_TYPE_FLOAT16 : DML_TENSOR_DATA_TYPE_FLOAT32, x);
  if (c.castsBefore) last = graph.node(cat("CAST InputTensor=", half, " OutputTensor=", single), {last});
  std::vector<GraphSource> inputs{last};
  const std::string vector = cat("f32[1,1,1,", c.elements, "]");
  if (c.scales)
    for (int i = 0; i < 2; ++i)
      inputs.push_back(graph.input(DML_TENSOR_DATA_TYPE_FLOAT32, numbers(random, c.elements, 100)));
  last = graph.node(cat(c.row, " InputTensor=", single,
                        c.scales ? cat(" ScaleTensor=", vector, " BiasTensor=", vector) : "", " OutputTensor=", single),
                    inputs);
  if (c.castsBehind) last = graph.node(cat("CAST InputTensor=", single, " OutputTensor=", half), {last});
  if (c.factor >= 0) {
    const GraphSource factor = graph.input(DML_TENSOR_DATA_TYPE_FLOAT16, numbers(random, c.elements, 3));
    const std::string row = cat(half, "{0,0,0,1}");
    last = graph.node(cat("ELEMENT_WISE_MULTIPLY ATensor=", c.factor == 0 ? row : half,
                          " BTensor=", c.factor == 0 ? half : row, " OutputTensor=", half),
                      c.factor == 0 ? std::vector{factor, last} : std::vector{last, factor});
  }
  graph.output(last);
  return graph;
}

// One dispatch answers what the nodes answer.
void checkRows(Gpu& gpu, StepMemory& memory, const CastRows& c, uint64_t seed) {
  const GraphOfLines lines = graphOf(c, seed);
  const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareElements);
  CHECK_MESSAGE(failure.empty(), cat(c.row, " of ", c.rows, " x ", c.elements, ": ", failure));
  Target target;
  target.caps.maxInvocations = 1024;
  const auto planned = planTestGraph(lines.graph(), target);
  REQUIRE_MESSAGE(planned, planned.error().text);
  CHECK(planned->plan.execution.size() == 1);
}

constexpr const char* kNormalization = "MEAN_VARIANCE_NORMALIZATION1 Axes=[3] NormalizeVariance=1 Epsilon=0.01";
constexpr const char* kRoots = "MEAN_VARIANCE_NORMALIZATION2 Axes=[3] UseMean=0 UseVariance=1 Epsilon=0.0001";
constexpr const char* kActivated =
    "MEAN_VARIANCE_NORMALIZATION1 Axes=[3] NormalizeVariance=1 Epsilon=0.01 FusedActivation=SIGMOID";
constexpr const char* kSoftmax = "ACTIVATION_SOFTMAX1 Axes=[3]";
constexpr const char* kLogSoftmax = "ACTIVATION_LOG_SOFTMAX1 Axes=[3]";

GPU_TEST_CASE("graphs: rows between CASTs answer what their nodes answer" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  // Of each kernel, short rows with an end that fills no invocation, and an odd number of rows.
  constexpr std::pair<uint32_t, uint32_t> kShapes[] = {{67, 64},   {129, 196}, {65, 512},
                                                       {64, 1024}, {65, 4000}, {66, 8192}};
  StepMemory memory;
  uint64_t seed = 0;
  for (const std::pair<uint32_t, uint32_t>& shape : kShapes)
    for (const char* row : {kNormalization, kRoots, kActivated, kSoftmax, kLogSoftmax}) {
      ++seed;
      const bool isSoftmax = row == kSoftmax || row == kLogSoftmax;
      CastRows c{shape.first, shape.second, row, !isSoftmax && seed % 3 != 0};
      c.castsBefore = seed % 4 != 1;
      c.castsBehind = seed % 4 != 2;
      c.special = seed % 2 == 0;
      if (seed % 5 == 0) c.largest = 60000;  // sums of squares that are no FLOAT16
      checkRows(gpu, memory, c, seed);
    }
}

GPU_TEST_CASE("graphs: sums of what a CAST makes read what it reads") {
  struct Sums {
    const char* sizes;
    const char* axes;
    const char* sums;
  };
  // Rows and columns in vectors, in parts that are put together, and single elements.
  constexpr Sums kSums[] = {{"1,1,6,4096", "3", "1,1,6,1"},   {"1,1,3,70000", "3", "1,1,3,1"},
                            {"1,3,37,64", "3", "1,3,37,1"},   {"2,3,40,64", "2", "2,3,1,64"},
                            {"1,2,3000,16", "2", "1,2,1,16"}, {"3,5,7,11", "1,3", "3,1,7,1"},
                            {"4,3,5,7", "3", "4,3,5,1"},      {"2,3,40,64", "0,1", "1,1,40,64"}};
  StepMemory memory;
  uint64_t seed = 0;
  for (const Sums& sums : kSums)
    for (const char* function : {"AVERAGE", "SUM", "SUM_SQUARE", "L2", "LOG_SUM_EXP", "MAX"}) {
      Random random(++seed);
      GraphOfLines lines;
      size_t count = 1;
      for (const char* at = sums.sizes; *at; at = *at == ',' ? at + 1 : at) {
        char* end = nullptr;
        count *= std::strtoul(at, &end, 10);
        at = end;
      }
      const std::string single = cat("f32[", sums.sizes, "]");
      // Sums of squares are no FLOAT16.
      GraphSource last = lines.input(DML_TENSOR_DATA_TYPE_FLOAT16, numbers(random, count, seed % 2 ? 300 : 2));
      last = lines.node(cat("CAST InputTensor=f16[", sums.sizes, "] OutputTensor=", single), {last});
      last = lines.node(cat("REDUCE Function=", function, " InputTensor=", single, " OutputTensor=f32[", sums.sums,
                            "] Axes=[", sums.axes, "]"),
                        {last});
      lines.output(last);
      const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareWithLargest);
      CHECK_MESSAGE(failure.empty(), cat(function, " of ", sums.sizes, ": ", failure));
      const auto planned = planTestGraph(lines.graph(), {});
      REQUIRE_MESSAGE(planned, planned.error().text);
      CHECK(planned->rewritten.nodes().size() == 1);
    }
}

GPU_TEST_CASE("graphs: a factor of what is cast behind a normalization multiplies what was rounded" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  StepMemory memory;
  uint64_t seed = 100;
  for (const std::pair<uint32_t, uint32_t>& shape : {std::pair(67u, 64u), {65u, 512u}, {65u, 4000u}, {66u, 8192u}})
    for (const char* row : {kNormalization, kRoots})
      for (const int factor : {0, 1}) {
        CastRows c{shape.first, shape.second, row};
        c.castsBefore = ++seed % 3 != 0;
        c.special = seed % 2 == 0;
        c.factor = factor;
        checkRows(gpu, memory, c, seed);
      }
}

GPU_TEST_CASE("graphs: epilogues of products that are cast store FLOAT32") {
  struct Sizes {
    uint32_t batches, rows, depth, columns;
    bool turned;
  };
  // One row and few, tiles, slices of the depth, and batches.
  constexpr Sizes kSizes[] = {{1, 1, 256, 192, true}, {1, 1, 96, 80, false},   {1, 5, 128, 64, true},
                              {2, 67, 33, 45, false}, {1, 128, 64, 128, true}, {1, 16, 4096, 16, false}};
  StepMemory memory;
  uint64_t seed = 200;
  for (const Sizes& c : kSizes) {
    Random random(++seed);
    GraphOfLines graph;
    const std::string a = cat("f16[1,", c.batches, ",", c.rows, ",", c.depth, "]");
    const std::string b = c.turned ? cat("f16[1,", c.batches, ",", c.columns, ",", c.depth, "]")
                                   : cat("f16[1,", c.batches, ",", c.depth, ",", c.columns, "]");
    const std::string y = cat("[1,", c.batches, ",", c.rows, ",", c.columns, "]");
    const size_t products = size_t{c.batches} * c.depth;
    const GraphSource made =
        graph.node(cat("GEMM ATensor=", a, " BTensor=", b, " OutputTensor=f16", y,
                       " TransA=NONE TransB=", c.turned ? "TRANSPOSE" : "NONE", " Alpha=1 Beta=0"),
                   {graph.input(DML_TENSOR_DATA_TYPE_FLOAT16, numbers(random, products * c.rows, 1)),
                    graph.input(DML_TENSOR_DATA_TYPE_FLOAT16, numbers(random, products * c.columns, 1))});
    graph.output(graph.node(cat("CAST InputTensor=f16", y, " OutputTensor=f32", y), {made}));
    const std::string failure = compareWithNodes(
        gpu, memory, graph.graph(), [](const auto& tensor, const GraphBytes& whole, const GraphBytes& alone) {
          const oracle::Array x = oracle::read(tensor, whole), z = oracle::read(tensor, alone);
          for (size_t i = 0; i < x.real.size(); ++i)
            if (!(std::abs(x.real[i] - z.real[i]) <= 0x1p-10 * std::abs(z.real[i]) + 0x1p-12))
              return differing(i, x.real[i], z.real[i]);
          return std::string();
        });
    CHECK_MESSAGE(failure.empty(), cat(y, ": ", failure));
    const auto planned = planTestGraph(graph.graph(), {});
    REQUIRE_MESSAGE(planned, planned.error().text);
    CHECK(planned->rewritten.nodes().size() == 1);
  }
}

// A line of FLOAT32 as one of FLOAT16, whose inputs are not owned by DML.
std::string halved(std::string line) {
  for (size_t at = 0; (at = line.find("f32[", at)) != line.npos;) line.replace(at, 3, "f16");
  std::erase(line, '!');
  return line;
}

// An operator between CASTs from FLOAT16 and to it; no value for one of other data, or of tensors that no CAST makes.
std::optional<GraphOfLines> betweenCasts(std::string line) {
  std::erase(line, '!');
  const auto test = parseTestCase(line);
  const auto half = parseTestCase(halved(line));
  if (!test || !half || test->refused || test->halfPrecision || test->inPlace) return {};
  const auto cast = [](const DML_BUFFER_TENSOR_DESC& from, const DML_BUFFER_TENSOR_DESC& to) {
    return cat("CAST InputTensor=", formatTensor(from), " OutputTensor=", formatTensor(to));
  };
  GraphOfLines graph;
  std::vector<GraphSource> inputs;
  for (size_t i = 0; i < test->inputs.size(); ++i) {
    inputs.emplace_back();
    if (!test->inputs[i]) continue;
    inputs.back() = graph.input(fillBytes(*half, i));
    if (test->inputs[i]->DataType != DML_TENSOR_DATA_TYPE_FLOAT32) continue;
    const std::string made = cast(*half->inputs[i], *test->inputs[i]);
    if (!parseTestCase(made)) return {};
    inputs.back() = graph.node(made, {inputs.back()});
  }
  GraphSource node = graph.node(line, inputs);
  for (uint32_t i = 0; i < test->outputs.size(); ++i) {
    if (!test->outputs[i]) continue;
    node.output = i;
    const bool isFloat = test->outputs[i]->DataType == DML_TENSOR_DATA_TYPE_FLOAT32;
    graph.output(isFloat ? graph.node(cast(*test->outputs[i], *half->outputs[i]), {node}) : node);
  }
  return graph;
}

std::string compareHalves(const DML_BUFFER_TENSOR_DESC& tensor, const GraphBytes& whole, const GraphBytes& alone) {
  std::string difference = compareElements(tensor, whole, alone);
  if (difference.empty() || !isFloat(tensor.DataType)) return difference;
  return compareWithLargest(tensor, whole, alone);
}

GPU_TEST_CASE("graphs: operators between CASTs become operators of FLOAT16") {
  constexpr const char* kNames[] = {"ARGMAX",
                                    "AVERAGE_POOLING",
                                    "BATCH_NORMALIZATION",
                                    "CONVOLUTION",
                                    "CUMULATIVE_SUMMATION",
                                    "DEPTH_TO_SPACE",
                                    "GATHER",
                                    "GEMM",
                                    "LOCAL_RESPONSE_NORMALIZATION",
                                    "LP_POOLING",
                                    "MAX_POOLING1",
                                    "PADDING",
                                    "REDUCE",
                                    "RESAMPLE1",
                                    "REVERSE_SUBSEQUENCES",
                                    "ROI_ALIGN1",
                                    "SPLIT",
                                    "TILE",
                                    "TOP_K",
                                    "UPSAMPLE_2D"};
  StepMemory memory;
  for (const char* name : kNames) {
    const auto schemas = allSchemas();
    const auto schema = std::ranges::find_if(schemas, [&](const OpSchema* s) { return s->name == name; });
    REQUIRE(schema != schemas.end());
    size_t taken = 0;
    for (const std::string& line : generateCases(**schema, DML_TENSOR_DATA_TYPE_FLOAT32)) {
      const auto lines = betweenCasts(line);
      if (!lines) continue;
      const auto planned = planTestGraph(lines->graph(), {});
      if (!planned) continue;  // No CAST makes a tensor that is broadcast.
      const auto isCast = [](const Node& node) { return node.op && node.op->schema().type == DML_OPERATOR_CAST; };
      CHECK_MESSAGE(std::ranges::none_of(planned->rewritten.nodes(), isCast), line);
      const std::string failure = compareWithNodes(gpu, memory, lines->graph(), compareHalves);
      CHECK_MESSAGE(failure.empty(), cat(line, ": ", failure));
      if (++taken == 4) break;
    }
    CHECK_MESSAGE(taken == 4, std::string(name));
  }
}

}  // namespace
}  // namespace dimple::testing
