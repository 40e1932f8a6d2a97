// Attention that appends to a cache of keys and values, between CASTs as ONNX Runtime's provider describes it: the
// cache is the caller's, and what no step writes stays in it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_oracle.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/random.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

constexpr DataType kHalfType = DML_TENSOR_DATA_TYPE_FLOAT16;

struct Cache {
  uint32_t queries = 1;
  std::vector<double> lengths{};  // of the past, one a batch; empty: a FILL_VALUE_CONSTANT of the graph says 0
  uint32_t capacity = 300;
  uint32_t heads = 4, keyHeads = 2, channels = 16;
  bool casts = true;
  uint32_t batches = 2;
};

std::vector<double> halves(Random& random, size_t count, double largest) {
  std::vector<double> drawn(count);
  for (double& number : drawn) number = (2 * random.unit() - 1) * largest;
  return drawn;
}

std::string attentionLine(const Cache& c, std::string_view type) {
  const auto row = [&](uint32_t heads) {
    return cat(type, "[", c.batches, ",", c.queries, ",", heads * c.channels, "]");
  };
  const std::string cache = cat(type, "[", c.batches, ",", c.keyHeads, ",", c.capacity, ",", c.channels, "]");
  return cat("MULTIHEAD_ATTENTION1 QueryTensor=", row(c.heads), " KeyTensor=", row(c.keyHeads),
             " ValueTensor=", row(c.keyHeads), " PastSequenceLengthsTensor=i32[", c.batches,
             "] OutputTensor=", row(c.heads), " OutputPresentKeyTensor=", cache, " OutputPresentValueTensor=", cache,
             " Scale=0.25 MaskFilterValue=-10000 QueryHeadCount=", c.heads, " KeyValueHeadCount=", c.keyHeads,
             " MaskType=NONE");
}

GraphOfLines graphOf(const Cache& c, Random& random) {
  GraphOfLines graph;
  const std::string_view type = c.casts ? "f32" : "f16";
  const auto text = [&](std::string_view given, uint32_t heads) {
    return cat(given, "[", c.batches, ",", c.queries, ",", heads * c.channels, "]");
  };
  std::vector<GraphSource> inputs(12);
  for (size_t i = 0; i < 3; ++i) {
    const uint32_t heads = i == 0 ? c.heads : c.keyHeads;
    inputs[i] = graph.input(kHalfType, halves(random, size_t{c.batches} * c.queries * heads * c.channels, 2));
    if (c.casts)
      inputs[i] =
          graph.node(cat("CAST InputTensor=", text("f16", heads), " OutputTensor=", text("f32", heads)), {inputs[i]});
  }
  inputs[11] =
      c.lengths.empty()
          ? graph.node(cat("FILL_VALUE_CONSTANT OutputTensor=i32[", c.batches, "] ValueDataType=INT32 Value=0"), {})
          : graph.input(DML_TENSOR_DATA_TYPE_INT32, c.lengths);
  const GraphSource attention = graph.node(attentionLine(c, type), inputs);
  const std::string cache = cat("[", c.batches, ",", c.keyHeads, ",", c.capacity, ",", c.channels, "]");
  for (uint32_t o = 0; o < 3; ++o) {
    GraphSource made = attention;
    made.output = o;
    if (c.casts)
      made = graph.node(o == 0 ? cat("CAST InputTensor=", text("f32", c.heads), " OutputTensor=", text("f16", c.heads))
                               : cat("CAST InputTensor=f32", cache, " OutputTensor=f16", cache),
                        {made});
    std::vector<std::byte> held;
    if (o > 0)
      held = bytesOfNumbers(kHalfType, halves(random, size_t{c.batches} * c.keyHeads * c.capacity * c.channels, 2));
    graph.output(made, std::move(held));
  }
  return graph;
}

// A sentence if the graph does not answer what the oracle does, the whole of the cache included.
std::string compareCache(Gpu& gpu, StepMemory& memory, const Cache& c, uint64_t seed) {
  Random random(seed);
  const GraphOfLines lines = graphOf(c, random);
  std::vector<GraphBytes> results;
  if (std::string error = runGraph(gpu, memory, lines.graph(), results); !error.empty()) return error;
  const std::vector<GraphBytes> expected = evaluateGraph(lines.graph());
  const auto test = parseTestCase(attentionLine(c, "f16"));
  REQUIRE(test);
  for (size_t o = 0; o < 3; ++o) {
    const auto compare = o == 0 ? compareWithLargest : compareElements;
    if (const std::string error = compare(*test->outputs[o], results[o], expected[o]); !error.empty())
      return cat("Output ", o, ": ", error);
  }
  return {};
}

std::vector<Cache> caches() {
  std::vector<Cache> all;
  // Keys are split by 256: at the ends of the first part and of the cache, and beyond.
  for (const auto& [first, second] :
       {std::pair{0.0, 1.0}, {255.0, 256.0}, {254.0, 257.0}, {299.0, 7.0}, {300.0, 298.0}})
    all.push_back({.lengths = {first, second}});
  all.push_back({.queries = 3, .lengths = {297, 0}});
  // Several parts of a channel for each invocation that combines them.
  all.push_back({.lengths = {299, 130}, .channels = 128});
  all.push_back({.queries = 40, .lengths = {260, 1}, .channels = 64});
  all.push_back({.queries = 40, .lengths = {}, .channels = 128});
  all.push_back({.queries = 300, .lengths = {}, .channels = 8});
  all.push_back({.lengths = {5, 63}, .capacity = 64, .heads = 3, .keyHeads = 1, .channels = 6});
  all.push_back({.queries = 9, .lengths = {}, .capacity = 17, .channels = 5});
  return all;
}

GPU_TEST_CASE("graphs: attention between CASTs keeps what the cache holds") {
  StepMemory memory;
  uint64_t seed = 0;
  for (Cache c : caches())
    for (const bool casts : {true, false}) {
      c.casts = casts;
      const std::string failure = compareCache(gpu, memory, c, ++seed);
      CHECK_MESSAGE(failure.empty(), cat(attentionLine(c, "f16"), casts ? ", between CASTs: " : ": ", failure));
    }
}

}  // namespace
}  // namespace dimple::testing
