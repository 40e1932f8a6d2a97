// Constants of models whose inputs have open sizes.
#include <numeric>

#include "clients/onnx/constants.h"
#include "clients/onnx/session.h"
#include "tests/gpu_test.h"
#include "tests/onnx/model_builder.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

constexpr int64_t kLarge = 2 * 4096;

HostTensor numbers(int64_t count) {
  Reals values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return floats({count}, values);
}

GPU_TEST_CASE("onnx constants: large ones are on the device only once a graph reads them") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.initializer("large", numbers(kLarge));
  maker.initializer("small", floats({1}, {3}));
  maker.initializer("none", HostTensor(Type::Float, {0}));
  maker.node("Neg", {"large"}, {"negative"});
  maker.node("Sum", {"x", "large", "small", "negative"}, {"y"});
  setAttribute(maker.node("Concat", {"none", "y"}, {"z"}), "axis", 0);
  maker.output("z");
  onnx::Model model = maker.model();
  onnx::ComPtr<IDMLDevice> device;
  REQUIRE(SUCCEEDED(gpu.context().GetDevice(IID_PPV_ARGS(&device))));
  onnx::Constants constants(gpu.context(), *device.Get(), model, {});
  constants.prepare();
  CHECK(model.initializers().empty());
  CHECK(constants.all().size() == 4);
  CHECK(constants.known("small")->reals() == Reals{3});
  CHECK(constants.known("large") == nullptr);
  CHECK(constants.known("x") == nullptr);
  CHECK(constants.buffer("x") == nullptr);
  const auto buffer = constants.buffer("large");
  CHECK(constants.buffer("large").Get() == buffer.Get());
  CHECK(constants.all().at("large").value == nullptr);
  CHECK(constants.read("large")->bytes == numbers(kLarge).bytes);
  CHECK(constants.buffer("small") != nullptr);
  CHECK(constants.known("small") != nullptr);
  CHECK(constants.all().at("negative").value == nullptr);
  CHECK(constants.read("negative")->real(kLarge - 1) == 1 - kLarge);
}

// NonZero divides it into two graphs, of which the second reads the constant.
GPU_TEST_CASE("onnx constants: graphs behind a cut read them for any sizes") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.initializer("table", numbers(kLarge));
  maker.node("NonZero", {"x"}, {"row"});
  maker.node("Gather", {"table", "row"}, {"found"});
  maker.node("Neg", {"found"}, {"y"});
  maker.output("y");
  const onnx::Model model = maker.model();
  onnx::Session session(gpu.context(), model);
  CHECK(session.run({{"x", floats({4}, {0, 1, 0, 1})}})[0].tensor.reals() == Reals{-1, -3});
  CHECK(session.run({{"x", floats({4}, {1, 1, 0, 1})}})[0].tensor.reals() == Reals{0, -1, -3});
  CHECK(session.run({{"x", floats({6}, {0, 0, 0, 0, 1, 0})}})[0].tensor.reals() == Reals{-4});
  CHECK(session.run({{"x", floats({4}, {0, 1, 0, 1})}})[0].tensor.reals() == Reals{-1, -3});
}

}  // namespace
}  // namespace dimple::testing
