// Decoders of words as ONNX Runtime's provider describes them, against the oracle node by node.
#include "tests/conformance/graphs/decoder_graph.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "tests/conformance/graphs/graph_oracle.h"
#include "tests/conformance/graphs/graph_runner.h"
#include "tests/core/matrix_caps.h"
#include "tests/gpu_test.h"
#include "tests/left_out.h"

namespace dimple::testing {
namespace {

// A sentence if an output is not what the oracle says.
std::string compareWithOracle(Gpu& gpu, StepMemory& memory, const TestGraph& graph) {
  std::vector<GraphBytes> results;
  if (std::string error = runGraph(gpu, memory, graph, results); !error.empty()) return error;
  const std::vector<GraphBytes> expected = evaluateGraph(graph);
  for (size_t g = 0; g < expected.size(); ++g) {
    const DML_BUFFER_TENSOR_DESC& tensor = *graph.tensorOf(graph.outputs[g]);
    if (const std::string difference = compareWithLargest(tensor, results[g], expected[g]); !difference.empty())
      return cat("Output ", g, ": ", difference);
  }
  return {};
}

GPU_TEST_CASE("decoders: products with weights that are dequantized agree with the oracle") {
  struct Sizes {
    uint32_t batches, words, columns, depth;
  };
  StepMemory memory;
  uint32_t count = 0;
  for (const Sizes& s : {Sizes{1, 1, 48, 64},
                         {1, 1, 130, 256},
                         {2, 1, 40, 96},
                         {1, 5, 33, 64},
                         {3, 8, 64, 128},
                         {1, 17, 72, 64},
                         {1, 70, 80, 320}})
    for (const char* type : {"u4", "i4", "u8", "i8"})
      for (const ZeroPoints zeros : {ZeroPoints::Absent, ZeroPoints::Given, ZeroPoints::Filled}) {
        ++count;
        DecoderOptions options{.batches = s.batches, .words = s.words};
        options.type = count % 3 == 0 ? "f32" : "f16";
        options.weights = {type, count % 2 == 0 ? 16u : 32u, zeros, count % 5 != 0};
        const TestGraph graph = productOfIntegers(options, s.columns, s.depth, count % 7 == 0 && options.type == "f16");
        const std::string failure = compareWithOracle(gpu, memory, graph);
        CHECK_MESSAGE(failure.empty(), cat(s.batches, " x ", s.words, " x ", s.columns, " x ", s.depth, " ", type, " ",
                                           options.type, ", case ", count, ": ", failure));
      }
}

// Where invocations set the elements of matrices. The plan is that of a large GPU.
GPU_TEST_CASE("decoders: products of few rows with weights that are set into matrices agree with the oracle" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  struct Sizes {
    uint32_t batches, words, columns, depth;
  };
  StepMemory memory;
  uint32_t count = 0;
  for (const Sizes& s : {Sizes{1, 1, 72, 64},
                         {1, 1, 513, 8224},
                         {1, 1, 520, 512},
                         {2, 1, 522, 416},
                         {1, 3, 520, 608},
                         {1, 4, 550, 288},
                         {2, 2, 600, 352},
                         {1, 7, 530, 288},
                         {4, 2, 512, 544}})
    for (const char* type : {"u4", "i4", "u8", "i8"})
      for (const ZeroPoints zeros : {ZeroPoints::Absent, ZeroPoints::Given}) {
        ++count;
        DecoderOptions options{.batches = s.batches, .words = s.words};
        options.weights = {type, count % 3 == 0 ? 16u : 32u, zeros, false, count % 5 == 0};
        const TestGraph graph = productOfIntegers(options, s.columns, s.depth);
        Caps caps = capsOfMatrices();
        caps.matrixPlaces = true;
        caps.workgroups = 32;
        const auto planned = planTestGraph(graph, {caps, {}});
        REQUIRE_MESSAGE(planned, planned.error().text);
        const std::string_view kernel = s.batches * s.words == 1 ? "weight_single" : "weight_few";
        CHECK(kernelName(planned->plan.execution.front().kernel).starts_with(kernel));
        const std::string failure = compareWithOracle(gpu, memory, graph);
        CHECK_MESSAGE(failure.empty(), cat(s.batches, " x ", s.words, " x ", s.columns, " x ", s.depth, " ", type,
                                           ", case ", count, ": ", failure));
      }
}

// Products of few rows normalize them, in one dispatch on a large GPU.
GPU_TEST_CASE("decoders: products of few rows that normalize them agree with the oracle" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  struct Sizes {
    uint32_t batches, words, columns, depth;
  };
  Gpu& unknown = sharedGpu("places=0");
  StepMemory memory, memoryOfUnknown;
  uint32_t count = 0;
  for (const Sizes& s : {Sizes{1, 1, 72, 64}, {1, 1, 513, 8224}, {2, 1, 522, 416}, {1, 3, 550, 4384}, {4, 2, 512, 544}})
    for (const char* type : {"u4", "i8"})
      for (const bool hasFactor : {false, true}) {
        DecoderOptions options{.batches = s.batches, .words = s.words};
        options.weights = {type, 32, count % 2 == 0 ? ZeroPoints::Given : ZeroPoints::Absent, false};
        const TestGraph graph = productOfNormalized(options, s.columns, s.depth, hasFactor);
        Caps caps = capsOfMatrices();
        caps.matrixPlaces = true;
        caps.workgroups = 32;
        const auto planned = planTestGraph(graph, {caps, {}});
        REQUIRE_MESSAGE(planned, planned.error().text);
        CHECK(planned->plan.execution.size() == 1);
        const std::string failure = ++count % 5 == 0 ? compareWithOracle(unknown, memoryOfUnknown, graph)
                                                     : compareWithOracle(gpu, memory, graph);
        CHECK_MESSAGE(failure.empty(), cat(s.batches, " x ", s.words, " x ", s.columns, " x ", s.depth, " ", type,
                                           hasFactor ? " with a factor: " : ": ", failure));
      }
  CHECK(unknown.takeMessages().empty());
}

// Where a driver places elements of matrices otherwise than is hoped for.
GPU_TEST_CASE("decoders: products of few rows agree with the oracle where places in matrices are unknown" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  Gpu& unknown = sharedGpu("places=0");
  StepMemory memory;
  for (const uint32_t words : {1u, 3u})
    for (const char* type : {"u4", "i8"}) {
      DecoderOptions options{.batches = 2, .words = words};
      options.weights = {type, 32, words == 1 ? ZeroPoints::Absent : ZeroPoints::Given, false};
      const std::string failure = compareWithOracle(unknown, memory, productOfIntegers(options, 530, 288));
      CHECK_MESSAGE(failure.empty(), cat(words, " words, ", type, ": ", failure));
    }
  CHECK(unknown.takeMessages().empty());
}

// Of tiles that only large devices take.
GPU_TEST_CASE("decoders: large products with weights that are dequantized agree with the oracle" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  if (gpu.adapter().find("llvmpipe") != std::string::npos) return;  // takes other tiles, and long
  StepMemory memory;
  for (const char* type : {"u4", "i8"}) {
    DecoderOptions options{.words = 130};
    options.weights = {type, 32, ZeroPoints::Given, false};
    Caps caps = capsOfMatrices();
    const TestGraph graph = productOfIntegers(options, 8200, 192);
    const auto planned = planTestGraph(graph, {caps, {}});
    REQUIRE_MESSAGE(planned, planned.error().text);
    CHECK(planned->plan.execution.front().groupSize == 256);
    const std::string failure = compareWithOracle(gpu, memory, graph);
    CHECK_MESSAGE(failure.empty(), cat(type, ": ", failure));
  }
}

std::vector<std::pair<std::string, DecoderOptions>> decoders() {
  DecoderOptions prompt{.words = 7};
  DecoderOptions step{.lengths = {7}};
  DecoderOptions batch{.batches = 3, .layers = 2, .lengths = {0, 1, 39}};
  DecoderOptions interleaved{.batches = 2, .heads = 6, .keyHeads = 1, .lengths = {5, 20}, .interleaved = true};
  interleaved.weights = {"u8", 16, ZeroPoints::Given};
  DecoderOptions single{.words = 3, .type = "f32"};
  single.weights.zeroPoints = ZeroPoints::Filled;
  DecoderOptions large{.words = 33, .channels = 32, .capacity = 300};
  large.weights.zeroPoints = ZeroPoints::Given;
  return {{"prompt", prompt},     {"step", step},      {"batch", batch},
          {"pairs", interleaved}, {"FLOAT32", single}, {"long prompt", large}};
}

// Where the device's subgroups multiply matrices, in tiles.
GPU_TEST_CASE("decoders: products of many rows with weights that are dequantized agree with the oracle" *
              leftOut(Run::QuickD3d12, "nodes stay as they are")) {
  struct Sizes {
    uint32_t batches, words, columns, depth;
    const char* kernel = "weight_tiles";
  };
  StepMemory memory;
  uint32_t count = 0;
  for (const Sizes& s : {Sizes{1, 128, 512, 64},
                         {1, 256, 512, 128},
                         {2, 130, 264, 96},
                         {1, 300, 330, 160},
                         {1, 16, 40, 256, "weight_split"},
                         {3, 4, 33, 416, "weight_split"},
                         {1, 29, 72, 256, "weight_split"},
                         {2, 31, 130, 288, "weight_split"},
                         {1, 128, 512, 80},  // no whole parts
                         {1, 16, 40, 464, "weight_split"}})
    for (const char* type : {"u4", "i4", "u8", "i8"}) {
      ++count;
      const bool isHalf = s.depth % 32 != 0;  // the last vector of 4 bits
      if (isHalf && type[1] == '4') continue;
      DecoderOptions options{.batches = s.batches, .words = s.words};
      options.weights = {type, isHalf || count % 2 == 0 ? 16u : 32u,
                         count % 3 == 0 ? ZeroPoints::Absent : ZeroPoints::Given, false, count % 4 == 0};
      const TestGraph graph = productOfIntegers(options, s.columns, s.depth);
      Caps caps = capsOfMatrices();
      caps.workgroups = 8;
      const auto planned = planTestGraph(graph, {caps, {}});
      REQUIRE_MESSAGE(planned, planned.error().text);
      CHECK(kernelName(planned->plan.execution.front().kernel).starts_with(s.kernel));
      const std::string failure = compareWithOracle(gpu, memory, graph);
      CHECK_MESSAGE(failure.empty(), cat(s.batches, " x ", s.words, " x ", s.columns, " x ", s.depth, " ", type,
                                         ", case ", count, ": ", failure));
    }
}

// Of a plan for a large device whose subgroups multiply matrices.
size_t dispatchesOf(const TestGraph& graph) {
  const auto planned = planTestGraph(graph, {capsOfMatrices(), {}});
  REQUIRE_MESSAGE(planned, planned.error().text);
  return planned->plan.execution.size();
}

TEST_CASE("decoders: a layer of a step takes ten dispatches") {
  for (const bool interleaved : {false, true}) {
    DecoderOptions options{.heads = 16, .keyHeads = 4, .channels = 64, .lengths = {511}, .interleaved = interleaved};
    options.width = 1024;
    options.inner = 2816;
    options.capacity = 1024;
    options.filled = false;
    const size_t one = dispatchesOf(decoder(options));
    options.layers = 2;
    CHECK(dispatchesOf(decoder(options)) == one + 10);
  }
}

// Queries and keys are embedded in one dispatch, beside two that gather cosines and sines, and two that repeat them.
GPU_TEST_CASE("decoders: rotary embeddings are those of the nodes, bit for bit") {
  StepMemory memory;
  for (const std::pair<std::string, DecoderOptions>& named : decoders()) {
    DecoderOptions with = named.second;
    if (with.keyHeads == 1) with.keyHeads = 2;
    if (with.channels % 16 != 0) with.channels = 16;
    const TestGraph graph = rotaryEmbeddings(with);
    if (with.words * with.batches == 1) CHECK(dispatchesOf(graph) == 5);
    const std::string failure = compareWithNodes(gpu, memory, graph, compareElements);
    CHECK_MESSAGE(failure.empty(), cat(named.first, ": ", failure));
  }
}

GPU_TEST_CASE("decoders: a compiled step serves every length of the past") {
  StepMemory memory;
  const DecoderOptions options{.batches = 2, .capacity = 300, .lengths = {7, 0}};
  std::string error;
  const ComPtr<IDMLCompiledOperator> compiled = compiledOf(gpu, decoder(options), error);
  REQUIRE_MESSAGE(compiled, error);
  for (const std::vector<double>& lengths : {std::vector<double>{7, 0}, {298, 31}, {0, 255}, {255, 256}}) {
    DecoderOptions other = options;
    other.lengths = lengths;
    const TestGraph graph = decoder(other);
    std::vector<GraphBytes> results;
    REQUIRE((error = runCompiled(gpu, memory, graph, compiled, results)).empty());
    const std::vector<GraphBytes> expected = evaluateGraph(graph);
    for (size_t g = 0; g < expected.size(); ++g) {
      const std::string difference = compareWithLargest(*graph.tensorOf(graph.outputs[g]), results[g], expected[g]);
      CHECK_MESSAGE(difference.empty(), cat("length ", lengths[0], ", output ", g, ": ", difference));
    }
  }
}

GPU_TEST_CASE("decoders: what a cache holds behind its words is not read") {
  StepMemory memory;
  for (const uint32_t words : {1u, 3u})
    for (const double length : {0.0, 7.0, 255.0, 256.0, 590.0}) {
      DecoderOptions options{.words = words, .capacity = 600, .lengths = {length}};
      std::vector<GraphBytes> clean, poisoned;
      REQUIRE(runGraph(gpu, memory, decoder(options), clean).empty());
      options.poisoned = true;
      REQUIRE(runGraph(gpu, memory, decoder(options), poisoned).empty());
      CHECK_MESSAGE(clean[0] == poisoned[0], cat(words, " words behind ", length));
    }
}

GPU_TEST_CASE("decoders: layers agree with the oracle") {
  StepMemory memory;
  for (const std::pair<std::string, DecoderOptions>& named : decoders()) {
    const std::string failure = compareWithOracle(gpu, memory, decoder(named.second));
    CHECK_MESSAGE(failure.empty(), cat(named.first, ": ", failure));
  }
}

}  // namespace
}  // namespace dimple::testing
