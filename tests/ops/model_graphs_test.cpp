// Graphs in the shapes of known networks: what rewriting saves of them, and that they answer what their nodes answer.
#include "tests/conformance/graphs/model_graphs.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "core/text.h"
#include "tests/conformance/graphs/decoder_graph.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/conformance/options_text.h"
#include "tests/conformance/plan_check.h"
#include "tests/core/matrix_caps.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// A row of the table in docs/graphs.md.
std::string rowOf(std::string_view model, const TestGraph& test, const Caps& caps, std::string_view without,
                  std::string_view shown) {
  const auto planned = planTestGraph(test, {caps, optionsWithout(without)});
  REQUIRE_MESSAGE(planned, planned.error().text);
  const Plan& plan = planned->plan;
  const std::string unwritten = firstUnwritten(plan, UINT64_MAX);
  CHECK_MESSAGE(unwritten.empty(), unwritten);
  const PlanTotals totals = totalsOf(plan.execution);
  const auto megabytes = [](uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", static_cast<double>(bytes) * 1e-6);
    return std::string(text);
  };
  return cat("| ", model, " | ", shown, " | ", totals.dispatches, " | ", totals.barriers, " | ",
             megabytes(totals.bytes), " | ", megabytes(plan.temporaryBytes), " | ", megabytes(plan.persistentBytes),
             " |");
}

TEST_CASE("models: docs/graphs.md says what rewriting saves") {
  std::ifstream file(DIMPLE_SOURCE_DIR "/docs/graphs.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto check = [&](const std::string& name, const TestGraph& graph, const Caps& caps = {}) {
    const std::string model = cat(name, ", ", graph.nodes.size(), " nodes");
    for (const auto& [without, shown] : {std::pair("passes", "none"),
                                         {"activations", "all but activations"},
                                         {"chains", "all but chains"},
                                         {"constants", "all but constants"},
                                         {"weights", "all but weights"},
                                         {"quantized", "all but quantized"},
                                         {"epilogues", "all but epilogues"},
                                         {"patterns", "all but patterns"},
                                         {"attention", "all but attention"},
                                         {"layouts", "all but layouts"},
                                         {"views", "all but views"},
                                         {"", "all"}}) {
      const std::string row = rowOf(model, graph, caps, without, shown);
      CHECK_MESSAGE(page.find(row) != page.npos, row);
    }
  };
  check("SqueezeNet", squeezeNet(224, 1, false));
  check("ResNet-50", resNet50(224, 1, 6, false));
  check("quantized ResNet-50", quantizedResNet50(224, 1, 6, false), capsOfAllMatrices());
  check("transformer", transformer(6, 128, 512, 8, false));
  check("spelled layer", spelledEncoder(128, 512, 8, DML_TENSOR_DATA_TYPE_FLOAT16), capsOfMatrices());
  // What finds nothing in the others.
  for (const auto& [name, words] : {std::pair("decoder's step", 1u), {"decoder's prompt", 128u}}) {
    DecoderOptions options{.words = words, .heads = 16, .keyHeads = 4, .channels = 64};
    options.width = 1024;
    options.inner = 2816;
    options.capacity = 1024;
    options.filled = false;
    if (words == 1) options.lengths = {511};
    const TestGraph graph = decoder(options);
    for (const auto& [without, shown] : {std::pair("passes", "none"),
                                         {"repeated", "all but repeated"},
                                         {"caches", "all but caches"},
                                         {"dequantized", "all but dequantized"},
                                         {"siblings", "all but siblings"},
                                         {"neighbours", "all but neighbours"},
                                         {"epilogues", "all but epilogues"},
                                         {"chains", "all but chains"},
                                         {"views", "all but views"},
                                         {"", "all"}}) {
      const std::string row =
          rowOf(cat(name, ", ", graph.nodes.size(), " nodes"), graph, capsOfMatrices(), without, shown);
      CHECK_MESSAGE(page.find(row) != page.npos, row);
    }
  }
}

// Dispatches of kernels for tiles, by whether they read vectors.
std::string tilesOf(const TestGraph& graph, std::string_view without) {
  const auto planned = planTestGraph(graph, {Caps{}, optionsWithout(without)});
  REQUIRE(planned);
  const auto count = [&](std::string_view kernel) {
    return static_cast<size_t>(std::ranges::count_if(planned->plan.execution, [&](const Dispatch& dispatch) {
      return kernelName(dispatch.kernel).starts_with(kernel);
    }));
  };
  const size_t vectors = count("gemm_vector_tile") + count("gemm_large_tile") + count("gemm_split");
  return cat(count("gemm_tile"), " of elements, ", vectors, " of vectors");
}

TEST_CASE("models: layouts let products read vectors") {
  const TestGraph small = squeezeNet(224, 1, false);
  CHECK(tilesOf(small, "layouts") == "7 of elements, 0 of vectors");
  CHECK(tilesOf(small, "") == "0 of elements, 17 of vectors");
  const TestGraph deep = resNet50(224, 1, 6, false);
  CHECK(tilesOf(deep, "layouts") == "0 of elements, 28 of vectors");
  CHECK(tilesOf(deep, "") == "0 of elements, 31 of vectors");
}

GPU_TEST_CASE("models: small ones answer what their nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  StepMemory memory;
  for (const TestGraph& graph : {squeezeNet(64, 4, true), resNet50(64, 8, 1, true), transformer(2, 24, 64, 4, true)}) {
    const std::string failure = compareWithNodes(gpu, memory, graph, compareWithLargest);
    CHECK_MESSAGE(failure.empty(), failure);
  }
}

// By integers, also where no matrices multiply them.
GPU_TEST_CASE("models: a small one that is quantized answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const TestGraph graph = quantizedResNet50(64, 8, 1, true);
  for (Gpu* chosen : {&gpu, &sharedGpu("estimates=0")}) {
    StepMemory memory;
    const std::string failure = compareWithNodes(*chosen, memory, graph, compareElements);
    CHECK_MESSAGE(failure.empty(), failure);
  }
}

std::string compareSpelled(Gpu& gpu, DataType type) {
  const TestGraph graph = spelledEncoder(24, 64, 4, type);
  const auto planned = planTestGraph(graph, {Caps{}, Options{}});
  REQUIRE(planned);
  const auto count = [&](DML_OPERATOR_TYPE of) {
    return std::ranges::count_if(planned->rewritten.nodes(),
                                 [&](const Node& node) { return node.op && node.op->schema().type == of; });
  };
  CHECK(count(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION2) == 2);
  CHECK(count(DML_OPERATOR_REDUCE) == 0);
  StepMemory memory;
  return compareWithNodes(gpu, memory, graph, compareWithLargest);
}

GPU_TEST_CASE("models: one that spells out its operators answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const std::string failure = compareSpelled(gpu, DML_TENSOR_DATA_TYPE_FLOAT32);
  CHECK_MESSAGE(failure.empty(), failure);
}

// Where the device's subgroups multiply matrices, by attention.
GPU_TEST_CASE("models: a small one of FLOAT16 that spells out its operators answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  const std::string failure = compareSpelled(gpu, DML_TENSOR_DATA_TYPE_FLOAT16);
  CHECK_MESSAGE(failure.empty(), failure);
}

// Where the device's subgroups multiply matrices, with channels side by side between nodes.
GPU_TEST_CASE("models: a small one of FLOAT16 answers what its nodes answer" *
              leftOut(Run::QuickD3d12, "nothing else in a quick run takes its kernels")) {
  StepMemory memory;
  const std::string failure =
      compareWithNodes(gpu, memory, resNet50(64, 1, 1, true, DML_TENSOR_DATA_TYPE_FLOAT16), compareWithLargest);
  CHECK_MESSAGE(failure.empty(), failure);
}

}  // namespace
}  // namespace dimple::testing
