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

// Of ONNX Runtime's processor, without its rewrites.
void compareSizes(const std::string& model, const std::vector<onnx::Sizes>& all) {
  const Host host;
  const HostSession ours = host.open(model, {.provider = {}, .optimize = false});
  const HostSession theirs = host.open(model, {.provider = {}, .engine = Engine::Processor, .optimize = false});
  bool first = true;
  for (const onnx::Sizes& sizes : all) {
    const Inputs inputs{{"x", randomTensor(Type::Float, sizes)}};
    takeTransfers();
    const HostTensor y = ours.run(inputs)[0].tensor;
    const uint64_t constants = takeTransfers().bytes - y.bytes.size() - inputs.at("x").bytes.size();
    CHECK(compareTensors(y, theirs.run(inputs)[0].tensor, kTolerance) == "");
    CHECK((constants != 0) == first);
    first = false;
  }
}

TEST_CASE("provider memory: what is done to channels is done to weights once") {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1, 8, -1, -1});
  for (const char* name : {"factor", "shift", "mean", "variance"}) {
    HostTensor tensor = randomTensor(Type::Float, {8});
    for (float& value : tensor.as<float>()) value += 1;
    maker.initializer(name, tensor);
  }
  maker.initializer("filters", randomTensor(Type::Float, {8, 8, 3, 3}));
  maker.initializer("bias", randomTensor(Type::Float, {8}));
  maker.initializer("backward", randomTensor(Type::Float, {8, 4, 2, 2}));
  maker.initializer("scalar", floats({1}, {1.5}));
  maker.initializer("each", randomTensor(Type::Float, {4, 1, 1}));
  maker.node("Conv", {"x", "filters", "bias"}, {"a"});
  maker.node("BatchNormalization", {"a", "factor", "shift", "mean", "variance"}, {"b"});
  maker.node("Mul", {"scalar", "b"}, {"c"});
  maker.node("Relu", {"c"}, {"d"});
  maker.node("ConvTranspose", {"d", "backward"}, {"e"});
  maker.node("Add", {"e", "each"}, {"f"});
  maker.node("Mul", {"f", "each"}, {"g"});
  maker.node("Sigmoid", {"g"}, {"y"});
  maker.output("y");
  compareSizes(maker.bytes(), {{1, 8, 6, 6}, {2, 8, 5, 7}, {3, 8, 9, 4}});
}

TEST_CASE("provider memory: weights of 4 bits are unpacked once") {
  ModelMaker maker;
  maker.proto().add_opset_import()->set_domain("com.microsoft");
  maker.proto().mutable_opset_import(1)->set_version(1);
  maker.input("x", Type::Float, {-1, 64});
  HostTensor packed(Type::UInt8, {96, 4, 8});
  for (size_t i = 0; i < packed.bytes.size(); ++i) packed.setInteger(i, static_cast<int64_t>(i * 37 % 256));
  maker.initializer("packed", packed);
  maker.initializer("scales", randomTensor(Type::Float, {96 * 4}));
  auto& node = maker.node("MatMulNBits", {"x", "packed", "scales"}, {"y"});
  node.set_domain("com.microsoft");
  for (const auto& [name, value] :
       {std::pair("K", 64), std::pair("N", 96), std::pair("bits", 4), std::pair("block_size", 16)})
    setAttribute(node, name, value);
  maker.output("y");
  compareSizes(maker.bytes(), {{1, 64}, {5, 64}, {3, 64}});
}

}  // namespace
}  // namespace dimple::testing
