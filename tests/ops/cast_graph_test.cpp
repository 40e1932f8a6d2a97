// Normalizations and softmaxes between CASTs, bit for bit as their nodes one by one.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
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
  graph.output(last);
  return graph;
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
      const GraphOfLines lines = graphOf(c, seed);
      const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareElements);
      CHECK_MESSAGE(failure.empty(), cat(row, " of ", shape.first, " x ", shape.second, ": ", failure));
      Target target;
      target.caps.maxInvocations = 1024;
      const auto planned = planTestGraph(lines.graph(), target);
      REQUIRE_MESSAGE(planned, planned.error().text);
      CHECK(planned->plan.execution.size() == 1);
    }
}

}  // namespace
}  // namespace dimple::testing
