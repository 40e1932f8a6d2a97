// Graphs of products and a softmax, which become attention, against the oracle of attention.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "core/schema/op_schema.h"
#include "core/text.h"
#include "tests/conformance/graphs/graph_of_lines.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/oracle/oracle.h"
#include "tests/conformance/random.h"
#include "tests/core/matrix_caps.h"
#include "tests/gpu_test.h"

namespace dimple::testing {
namespace {

constexpr DataType kHalf = DML_TENSOR_DATA_TYPE_FLOAT16;

// Heads lie as attention's operator has them: those of a position side by side.
struct Attends {
  uint32_t batches = 2, heads = 3, queries = 40, keys = 56, keySize = 16, valueSize = 24;
  bool turnsQueries = false;  // matrices are given with the other dimension first, and transposed by the product
  bool turnsKeys = true;
  bool turnsValues = false;
  double alpha = 0.25;
  double divisor = 1;       // 1: none
  std::string addend = {};  // strides of what is added to scores; empty: nothing
  bool masks = false;       // some of it is -infinity
  bool addsFirst = false;   // it is the first operand of the sum
  bool ownBatches = true;   // false: all batches have the keys of the first
  bool casts = false;       // the softmax is one of FLOAT32
};

// {batch, head, position, channel} of positions that hold the channels of all heads.
std::string heads(const Attends& a, uint32_t positions, uint32_t channels, bool turned, bool own = true) {
  const uint32_t row = a.heads * channels;
  const uint32_t batch = own ? positions * row : 0;
  return turned ? cat("f16[", a.batches, ",", a.heads, ",", channels, ",", positions, "]{", batch, ",", channels, ",1,",
                      row, "}")
                : cat("f16[", a.batches, ",", a.heads, ",", positions, ",", channels, "]{", batch, ",", channels, ",",
                      row, ",1}");
}

std::string scoresOf(const Attends& a) {
  return cat("f16[", a.batches, ",", a.heads, ",", a.queries, ",", a.keys, "]");
}

struct Numbers {
  std::vector<double> queries, keys, values, addend;
};

Numbers numbersOf(const Attends& a) {
  Random random(a.queries * 1000 + a.keys);
  const auto draw = [&](size_t count, double most) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = (2 * random.unit() - 1) * most;
    return numbers;
  };
  Numbers numbers{draw(size_t{a.batches} * a.queries * a.heads * a.keySize, 2),
                  draw(size_t{a.ownBatches ? a.batches : 1} * a.keys * a.heads * a.keySize, 2),
                  draw(size_t{a.batches} * a.keys * a.heads * a.valueSize, 3),
                  draw(size_t{a.batches} * a.heads * a.queries * a.keys, 1)};
  // The first key of all stays, so that each query has one.
  if (a.masks)
    for (size_t i = 0; i < numbers.addend.size(); ++i)
      if (i % a.keys != 0 && (i % a.keys < a.keys / 2 || random.chance(0.3)))
        numbers.addend[i] = -std::numeric_limits<double>::infinity();
  return numbers;
}

GraphOfLines graphOf(const Attends& a, const Numbers& numbers) {
  GraphOfLines graph;
  const auto transform = [](bool transposes) { return transposes ? "TRANSPOSE" : "NONE"; };
  const std::string scores = scoresOf(a);
  GraphSource x =
      graph.node(cat("GEMM ATensor=", heads(a, a.queries, a.keySize, a.turnsQueries),
                     " BTensor=", heads(a, a.keys, a.keySize, !a.turnsKeys, a.ownBatches), " OutputTensor=", scores,
                     " TransA=", transform(a.turnsQueries), " TransB=", transform(a.turnsKeys), " Alpha=", a.alpha),
                 {graph.input(kHalf, numbers.queries), graph.input(kHalf, numbers.keys)});
  if (a.divisor != 1)
    x = graph.node(cat("ELEMENT_WISE_DIVIDE ATensor=", scores, " BTensor=", scores, "{0,0,0,0} OutputTensor=", scores),
                   {x, graph.constant(kHalf, std::array{a.divisor})});
  if (!a.addend.empty()) {
    const GraphSource addend = graph.input(kHalf, numbers.addend);
    const std::string tensor = cat(scores, a.addend);
    x = a.addsFirst
            ? graph.node(cat("ELEMENT_WISE_ADD ATensor=", tensor, " BTensor=", scores, " OutputTensor=", scores),
                         {addend, x})
            : graph.node(cat("ELEMENT_WISE_ADD ATensor=", scores, " BTensor=", tensor, " OutputTensor=", scores),
                         {x, addend});
  }
  const std::string wide = cat("f32", scores.substr(3));
  const std::string& weights = a.casts ? wide : scores;
  if (a.casts) x = graph.node(cat("CAST InputTensor=", scores, " OutputTensor=", wide), {x});
  x = graph.node(cat("ACTIVATION_SOFTMAX1 InputTensor=", weights, " OutputTensor=", weights, " Axes=[3]"), {x});
  if (a.casts) x = graph.node(cat("CAST InputTensor=", wide, " OutputTensor=", scores), {x});
  graph.output(graph.node(
      cat("GEMM ATensor=", scores, " BTensor=", heads(a, a.keys, a.valueSize, a.turnsValues),
          " OutputTensor=", heads(a, a.queries, a.valueSize, false), " TransB=", transform(a.turnsValues), " Alpha=1"),
      {x, graph.input(kHalf, numbers.values)}));
  return graph;
}

// What the operator of attention answers.
oracle::Comparison compareWithOracle(const Attends& a, const TestGraph& graph, const GraphBytes& result) {
  const auto tensor = [&](uint32_t positions, uint32_t channels, bool own = true) {
    const uint32_t row = a.heads * channels;
    return cat("f16[", a.batches, ",", positions, ",", row, "]{", own ? positions * row : 0, ",", row, ",1}");
  };
  const std::string line =
      cat("MULTIHEAD_ATTENTION QueryTensor=", tensor(a.queries, a.keySize),
          " KeyTensor=", tensor(a.keys, a.keySize, a.ownBatches), " ValueTensor=", tensor(a.keys, a.valueSize),
          a.addend.empty() ? "" : cat(" RelativePositionBiasTensor=", scoresOf(a), a.addend),
          " OutputTensor=", tensor(a.queries, a.valueSize), " Scale=", a.alpha / a.divisor,
          " MaskFilterValue=0 HeadCount=", a.heads, " MaskType=NONE");
  const auto test = parseTestCase(line);
  REQUIRE_MESSAGE(test, line);
  std::vector<oracle::Array> arrays(test->inputs.size());
  // Inputs of the graph as they were added.
  std::vector<size_t> order{0, 1};
  if (!a.addend.empty()) order.push_back(8);
  order.push_back(2);
  for (size_t i = 0; i < order.size(); ++i)
    arrays[order[i]] = oracle::read(*test->inputs[order[i]], graph.inputs[i].bytes);
  const auto expected = oracle::evaluate(test->desc.desc(), arrays);
  return oracle::compare(expected[0], oracle::read(*test->outputs[0], result));
}

const std::vector<Attends>& attentions() {
  static const std::vector<Attends> all{
      {},
      {.batches = 5, .heads = 1, .queries = 17, .keys = 33, .keySize = 8, .valueSize = 8},
      {.batches = 1, .heads = 7, .turnsQueries = true, .turnsKeys = false, .turnsValues = true},
      {.divisor = 4, .addend = "{0,0,0,1}"},
      {.batches = 3, .heads = 2, .divisor = 0.5, .addend = "{2240,0,56,1}", .masks = true, .addsFirst = true},
      {.addend = "{6720,2240,56,1}", .ownBatches = false},
      {.divisor = 2, .addend = "{0,0,0,1}", .casts = true},
      {.heads = 4,
       .queries = 64,
       .keys = 130,
       .keySize = 40,
       .valueSize = 72,
       .alpha = 0.125,
       .addend = "{0,0,130,1}",
       .masks = true},
      {.batches = 1, .heads = 2, .queries = 300},
  };
  return all;
}

TEST_CASE("graphs: attention of batches and heads is one node where matrices are") {
  for (const Attends& a : attentions()) {
    const GraphOfLines graph = graphOf(a, numbersOf(a));
    const auto planned = planTestGraph(graph.graph(), {capsOfMatrices(), {}});
    REQUIRE_MESSAGE(planned, planned.error().text);
    const auto& nodes = planned->rewritten.nodes();
    CHECK(std::ranges::count_if(nodes, [](const Node& node) { return node.op != nullptr; }) == 1);
    CHECK(
        std::ranges::any_of(nodes, [](const Node& node) { return node.op && node.op->schema().name == "ATTENTION"; }));
  }
}

void STDMETHODCALLTYPE countAttention(void* count, const char* kernel, double) {
  *static_cast<size_t*>(count) += std::string_view(kernel).starts_with("attention_cooperative");
}

// Returns how many graphs attend by matrices, whose results are within the bound of attention's operator. The nodes of
// the others stay.
size_t judgeAttentions(Gpu& gpu) {
  const bool profiles = SUCCEEDED(gpu.context().SetProfiling(TRUE));
  StepMemory memory;
  size_t judged = 0;
  for (const Attends& a : attentions()) {
    const GraphOfLines lines = graphOf(a, numbersOf(a));
    std::vector<GraphBytes> results;
    const std::string error = runGraph(gpu, memory, lines.graph(), results);
    REQUIRE_MESSAGE(error.empty(), error);
    size_t dispatches = 0;
    if (profiles) CHECK(gpu.context().ReadProfile(countAttention, &dispatches) == S_OK);
    if (dispatches != 0) {
      ++judged;
      const oracle::Comparison comparison = compareWithOracle(a, lines.graph(), results[0]);
      CHECK_MESSAGE(comparison.ok, comparison.message);
      continue;
    }
    const std::string failure = compareWithNodes(gpu, memory, lines.graph(), compareWithLargest);
    CHECK_MESSAGE(failure.empty(), failure);
  }
  if (profiles) CHECK(gpu.context().SetProfiling(FALSE) == S_OK);
  return judged;
}

GPU_TEST_CASE("graphs: attention of batches and heads agrees with the oracle") {
  const bool expected = std::getenv("DIMPLE_TEST_MATRICES") != nullptr;
  const size_t judged = judgeAttentions(gpu);
  if (judged == 0) std::printf("graphs: attention runs on no matrices here\n");
  if (!expected) return;
  CHECK(judged == attentions().size());
  // In small workgroups, as on a device that would be idle otherwise.
  CHECK(judgeAttentions(sharedGpu("estimates=0")) == judged);
}

}  // namespace
}  // namespace dimple::testing
