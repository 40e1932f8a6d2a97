// Whole networks through the provider, compared with ONNX Runtime's own processor in the same process.
#include <doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/onnx/networks.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/host.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;

// What a network is run with, and what is left to ONNX Runtime's processor.
struct Comparison {
  const char* name;
  std::string model;
  Tolerance tolerance;
  std::vector<std::string> left;
};

std::string listed(const std::vector<std::string>& operators) {
  std::string all;
  for (const std::string& name : operators) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "nothing" : all;
}

void compare(const Comparison& comparison, const std::vector<Inputs>& runs) {
  const Host host;
  const HostSession ours = host.open(comparison.model, {.provider = {}, .fallback = true});
  const HostSession theirs = host.open(comparison.model, {.provider = {}, .engine = Engine::Processor});
  const std::vector<std::string> left = ours.left();
  std::printf("provider: %s: %zu operators, left to the processor: %s\n", comparison.name, ours.taken().size(),
              listed(left).c_str());
  CHECK(left == comparison.left);
  CHECK(theirs.taken().empty());
  for (const Inputs& inputs : runs) {
    const auto results = ours.run(inputs);
    const auto expected = theirs.run(inputs);
    REQUIRE(results.size() == expected.size());
    for (size_t i = 0; i < results.size(); ++i)
      CHECK(compareTensors(results[i].tensor, expected[i].tensor, comparison.tolerance) == "");
    // Numbers that differ tell that weights and picture count.
    const auto numbers = results[0].tensor.reals();
    CHECK(std::ranges::any_of(numbers, [&](double number) { return number != numbers[0]; }));
  }
}

// ONNX Runtime's own provider computes most operators of FLOAT16 in FLOAT32.
constexpr Tolerance kHalf = {2e-2, 2e-2};

void compareNetwork(const char* name, const Network& network, Tolerance tolerance = {1e-3, 1e-4}) {
  // Twice, since ONNX Runtime places values together once it knows their sizes.
  compare({name, network.model.bytes(), tolerance, {}}, {network.inputs, network.inputs});
}

TEST_CASE("provider networks: SqueezeNet") { compareNetwork("SqueezeNet", squeezeNet({4, 64})); }
TEST_CASE("provider networks: MobileNetV2") { compareNetwork("MobileNetV2", mobileNet({4, 64})); }
TEST_CASE("provider networks: ResNet-50") { compareNetwork("ResNet-50", resNet({8, 64})); }
TEST_CASE("provider networks: a transformer") { compareNetwork("a transformer", transformer({4, 12})); }
TEST_CASE("provider networks: one of 8-bit numbers") {
  compareNetwork("a network of 8-bit numbers", quantizedNet({1, 32}), {0, 0});
}
TEST_CASE("provider networks: two pictures in SqueezeNet in FLOAT16") {
  compareNetwork("SqueezeNet in FLOAT16", squeezeNet({4, 64, 2, Type::Float16}), kHalf);
}
TEST_CASE("provider networks: a transformer in FLOAT16") {
  compareNetwork("a transformer in FLOAT16", transformer({4, 12, 2, Type::Float16}), kHalf);
}

HostTensor randomPicture(onnx::Sizes sizes) {
  HostTensor tensor(Type::Float, std::move(sizes));
  std::mt19937 random(7);
  for (float& value : tensor.as<float>()) value = static_cast<float>(random() % 2001) / 1000.0F - 1;
  return tensor;
}

// Of one of the models that read text, for pictures of several sizes.
void compareReader(const char* file, const std::vector<onnx::Sizes>& pictures) {
  const char* folder = std::getenv("DIMPLE_OCR");
  if (!folder || !*folder) {
    MESSAGE("Skipped: DIMPLE_OCR names no folder with the models.");
    return;
  }
  std::ifstream in(std::filesystem::path(folder) / file, std::ios::binary);
  ::onnx::ModelProto proto;
  REQUIRE_MESSAGE(proto.ParseFromIstream(&in), file, " is no model.");
  std::vector<Inputs> runs;
  for (const onnx::Sizes& sizes : pictures) runs.push_back({{proto.graph().input(0).name(), randomPicture(sizes)}});
  compare({file, proto.SerializeAsString(), {1e-3, 1e-3}, {}}, runs);
}

TEST_CASE("provider networks: where text is, in pictures of two sizes") {
  compareReader("ch_PP-OCRv4_det_infer.onnx", {{1, 3, 64, 96}, {1, 3, 96, 64}});
}

TEST_CASE("provider networks: how lines of text are turned") {
  compareReader("ch_ppocr_mobile_v2.0_cls_infer.onnx", {{2, 3, 48, 192}, {1, 3, 48, 192}});
}

TEST_CASE("provider networks: what lines of text say, in lines of two lengths") {
  compareReader("ch_PP-OCRv4_rec_infer.onnx", {{1, 3, 48, 64}, {2, 3, 48, 32}});
}

}  // namespace
}  // namespace dimple::testing
