// Where weights are: once on the device for all sizes of the inputs, and not on the host.
#include <doctest.h>
#include <malloc.h>

#include <random>

#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;

constexpr int64_t kWidth = 512;
constexpr Tolerance kTolerance{1e-3, 1e-3};

HostTensor randomTensor(Type type, const onnx::Sizes& sizes) {
  HostTensor tensor(type, sizes);
  std::mt19937 random(7);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
    const auto number = static_cast<int64_t>(random() % 201) - 100;
    if (onnx::isFloat(type))
      tensor.setReal(i, static_cast<double>(number) / 1000);
    else
      tensor.setInteger(i, number);
  }
  return tensor;
}

// Two layers of floats, and one of bytes that become floats. `sizes` are those of the input, the last one kWidth.
struct Layers {
  uint64_t weightBytes = 0;
  std::string model;

  explicit Layers(const std::vector<int64_t>& sizes) {
    ModelMaker maker;
    maker.input("x", Type::Float, sizes);
    const auto weight = [&](const char* name, const HostTensor& tensor) {
      maker.initializer(name, tensor);
      weightBytes += tensor.bytes.size();
    };
    weight("a", randomTensor(Type::Float, {kWidth, kWidth}));
    weight("b", randomTensor(Type::Float, {kWidth, kWidth}));
    weight("c", randomTensor(Type::Int8, {kWidth, kWidth}));
    weight("bias", randomTensor(Type::Float, {kWidth}));
    maker.initializer("scale", floats({}, {0.001}));
    maker.node("MatMul", {"x", "a"}, {"xa"});
    maker.node("Add", {"xa", "bias"}, {"sum"});
    maker.node("Relu", {"sum"}, {"first"});
    maker.node("MatMul", {"first", "b"}, {"second"});
    maker.node("DequantizeLinear", {"c", "scale"}, {"weights"});
    maker.node("MatMul", {"second", "weights"}, {"y"});
    maker.output("y");
    model = maker.bytes();
  }
};

const std::vector<onnx::Sizes> kFiveSizes = {
    {1, 3, kWidth}, {2, 5, kWidth}, {4, 1, kWidth}, {3, 7, kWidth}, {1, 2, kWidth}};

TEST_CASE("provider memory: weights are uploaded once for all sizes") {
  const Host host;
  const Layers layers({-1, -1, kWidth});
  const HostSession ours = host.open(layers.model);
  // What it rewrites, it computes with bytes.
  const HostSession theirs = host.open(layers.model, {.provider = {}, .engine = Engine::Processor, .optimize = false});
  takeTransfers();
  takeBufferBytes();
  bool first = true;
  for (const onnx::Sizes& sizes : kFiveSizes) {
    const Inputs inputs{{"x", randomTensor(Type::Float, sizes)}};
    const HostTensor y = ours.run(inputs)[0].tensor;
    CHECK(compareTensors(y, theirs.run(inputs)[0].tensor, kTolerance) == "");
    const Transfers transfers = takeTransfers();
    const uint64_t buffers = takeBufferBytes();
    if (first) {
      CHECK(transfers.bytes > layers.weightBytes);
      CHECK(buffers > layers.weightBytes);
    } else {
      // The input and the output.
      CHECK(transfers == Transfers{1, 1, 2 * y.bytes.size()});
      CHECK(buffers < layers.weightBytes / 4);
    }
    first = false;
  }
  // A program that was kept.
  CHECK(ours.run({{"x", randomTensor(Type::Float, kFiveSizes[1])}}).size() == 1);
  CHECK(takeBufferBytes() == 0);
}

TEST_CASE("provider memory: a program that was dropped is planned again without its weights") {
  const Host host;
  const Layers layers({-1, kWidth});
  const HostSession session = host.open(layers.model, {.provider = {{"program_bytes", "0"}}});
  const auto run = [&](int64_t rows) {
    return session.run({{"x", randomTensor(Type::Float, {rows, kWidth})}})[0].tensor.bytes;
  };
  const auto expected = run(2);
  run(3);
  takeTransfers();
  CHECK(run(2) == expected);
  CHECK(takeTransfers().uploads == 1);
}

size_t hostBytes() {
  malloc_trim(0);
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Of the host's memory, in parts of the weights, that a session holds once it has run.
double hostBytesHeld(const Host& host, const std::vector<int64_t>& sizes) {
  const Layers layers(sizes);
  const size_t before = hostBytes();
  const HostSession session = host.open(layers.model);
  session.run({{"x", randomTensor(Type::Float, {2, kWidth})}});
  return (static_cast<double>(hostBytes()) - static_cast<double>(before)) / static_cast<double>(layers.weightBytes);
}

TEST_CASE("provider memory: weights leave the host") {
  const Host host;
  hostBytesHeld(host, {2, kWidth});
  for (const int64_t rows : {-1, 2}) CHECK(hostBytesHeld(host, {rows, kWidth}) < 0.9);
}

TEST_CASE("provider memory: a model of fixed sizes runs again, and is refused other sizes") {
  const Host host;
  const Layers layers({2, kWidth});
  const HostSession session = host.open(layers.model);
  const Inputs inputs{{"x", randomTensor(Type::Float, {2, kWidth})}};
  const auto expected = session.run(inputs)[0].tensor.bytes;
  takeTransfers();
  CHECK(session.run(inputs)[0].tensor.bytes == expected);
  CHECK(takeTransfers().uploads == 1);
  CHECK_THROWS_AS(session.run({{"x", randomTensor(Type::Float, {3, kWidth})}}), HostError);
}

}  // namespace
}  // namespace dimple::testing
