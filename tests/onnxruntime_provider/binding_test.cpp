// Values that stay in the device's memory between runs.
#include <doctest.h>

#include "tests/onnx/model_builder.h"
#include "tests/onnx/onnx_run.h"
#include "tests/onnxruntime_provider/binding.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

const OrtApi& api() { return *ort::runtime().api; }

void* addressOf(const OrtValue& value) {
  void* address = nullptr;
  checkHost(api().GetTensorMutableData(const_cast<OrtValue*>(&value), &address));
  return address;
}

bool isOnDevice(const Host& host, const OrtValue& value) {
  const OrtEpApi& ep = *ort::runtime().ep;
  return ep.MemoryDevice_AreEqual(ep.Value_GetMemoryDevice(&value), ep.MemoryInfo_GetMemoryDevice(&host.memory()));
}

// y = 2 x + 1
std::string lineModel() {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.initializer("one", floats({1}, {1}));
  maker.node("Add", {"x", "x"}, {"twice"});
  maker.node("Add", {"twice", "one"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("provider binding: what a run makes on the device is what the next one reads") {
  const Host host;
  const HostSession session = host.open(lineModel());
  const Owned<OrtValue> x = host.upload(floats({3}, {1, 2, 3}));
  CHECK(isOnDevice(host, *x.get()));
  CHECK(takeTransfers() == Transfers{1, 0, 12});
  const Owned<OrtValue> y = host.makeOnDevice(Type::Float, {3});
  Binding first(host, session);
  first.input("x", *x.get());
  first.output("y", *y.get());
  first.run();
  // The weight is uploaded when sizes are seen for the first time.
  CHECK(takeTransfers().downloads == 0);
  CHECK(addressOf(*first.results().at(0).get()) == addressOf(*y.get()));

  Binding second(host, session);
  second.input("x", *y.get());
  second.output("y");
  second.run();
  const auto results = second.results();
  REQUIRE(results.size() == 1);
  CHECK(isOnDevice(host, *results[0].get()));
  CHECK(takeTransfers() == Transfers{});
  CHECK(host.download(*results[0].get()).reals() == Reals{7, 11, 15});
  CHECK(host.download(*y.get()).reals() == Reals{3, 5, 7});
  CHECK(host.download(*x.get()).reals() == Reals{1, 2, 3});
  CHECK(takeTransfers() == Transfers{0, 3, 36});
}

TEST_CASE("provider binding: an output may be the next run's input for any number of runs") {
  const Host host;
  const HostSession session = host.open(lineModel());
  const Owned<OrtValue> a = host.upload(floats({2}, {0, 1}));
  const Owned<OrtValue> b = host.makeOnDevice(Type::Float, {2});
  Binding there(host, session), back(host, session);
  there.input("x", *a.get());
  there.output("y", *b.get());
  back.input("x", *b.get());
  back.output("y", *a.get());
  there.run();
  takeTransfers();
  back.run();
  for (int i = 0; i < 4; ++i) {
    there.run();
    back.run();
  }
  CHECK(takeTransfers() == Transfers{});
  CHECK(host.download(*a.get()).reals() == Reals{1023, 2047});
}

TEST_CASE("provider binding: tensors are copied within the device, and each way with the host") {
  const Host host;
  const HostTensor numbers = floats({5}, {1, -2, 3, -4, 5});
  const Owned<OrtValue> a = host.upload(numbers);
  const Owned<OrtValue> b = host.makeOnDevice(Type::Float, {5});
  takeTransfers();
  host.copy(*a.get(), *b.get());
  CHECK(takeTransfers() == Transfers{});
  CHECK(host.download(*b.get()).reals() == numbers.reals());
  // Elements of a byte, as many as no word has.
  HostTensor bytes(Type::UInt8, {7});
  for (size_t i = 0; i < 7; ++i) bytes.setInteger(i, static_cast<int64_t>(40 + i));
  const Owned<OrtValue> c = host.upload(bytes);
  const Owned<OrtValue> d = host.makeOnDevice(Type::UInt8, {7});
  host.copy(*c.get(), *d.get());
  CHECK(host.download(*d.get()).bytes == bytes.bytes);
  // Nothing.
  const Owned<OrtValue> none = host.upload(HostTensor(Type::Float, {0, 4}));
  CHECK(host.download(*none.get()).sizes == onnx::Sizes{0, 4});
}

// Addresses on the device cannot be read on the host, but computed with: ONNX Runtime does so.
TEST_CASE("provider binding: a tensor may begin within another") {
  const Host host;
  const Owned<OrtValue> whole = host.upload(floats({128}, [] {
    Reals all;
    for (int i = 0; i < 128; ++i) all.push_back(i);
    return all;
  }()));
  constexpr int64_t kCount = 4;
  const auto part = [&](size_t first) {
    Owned<OrtValue> value(api().ReleaseValue);
    checkHost(api().CreateTensorWithDataAsOrtValue(&host.memory(), static_cast<float*>(addressOf(*whole.get())) + first,
                                                   kCount * sizeof(float), &kCount, 1,
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value.put()));
    return value;
  };
  CHECK(host.download(*part(64).get()).reals() == Reals{64, 65, 66, 67});
  CHECK(host.download(*part(124).get()).reals() == Reals{124, 125, 126, 127});
  CHECK_THROWS_WITH_AS(host.download(*part(125).get()), "A tensor of 16 bytes reaches over the end of its memory.",
                       HostError);
  const HostSession session = host.open(lineModel());
  for (const size_t first : {size_t{0}, size_t{64}}) {
    const Owned<OrtValue> x = part(first);
    const Owned<OrtValue> y = part(32);
    Binding binding(host, session);
    binding.input("x", *x.get());
    binding.output("y", *y.get());
    binding.run();
    const auto start = static_cast<double>(2 * first + 1);
    CHECK(host.download(*y.get()).reals() == Reals{start, start + 2, start + 4, start + 6});
  }
  CHECK(host.download(*part(36).get()).reals() == Reals{36, 37, 38, 39});
}

// y = a * det(a) + b * det(b) + c * det(c), for three values of x. DirectML has no determinant.
std::string determinantModel() {
  ModelMaker maker(18);
  maker.input("x", Type::Float, {-1, 3, 3});
  maker.initializer("axes", integers({1, 2}));
  const std::pair<const char*, const char*> values[] = {{"Abs", "a"}, {"Neg", "b"}, {"Sin", "c"}};
  for (const auto& [type, name] : values) {
    const std::string own = name;
    maker.node(type, {"x"}, {own});
    maker.node("Det", {own}, {own + " number"});
    maker.node("Unsqueeze", {own + " number", "axes"}, {own + " factor"});
    maker.node("Mul", {own, own + " factor"}, {own + " product"});
  }
  maker.node("Add", {"a product", "b product"}, {"sum"});
  maker.node("Add", {"sum", "c product"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

// ONNX Runtime puts values between groups into one block once it has seen their sizes.
TEST_CASE("provider binding: values between groups share a block") {
  const Host host;
  const HostSession ours = host.open(determinantModel(), {.provider = {}, .fallback = true});
  const HostSession theirs = host.open(determinantModel(), {.provider = {}, .engine = Engine::Processor});
  CHECK(ours.left() == std::vector<std::string>{"Det", "Det", "Det"});
  for (int run = 0; run < 6; ++run) {
    const int64_t matrices = 1 + run % 2 * 40;
    HostTensor x(Type::Float, {matrices, 3, 3});
    for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i)
      x.setReal(i, static_cast<double>((i * 7 + static_cast<size_t>(run) * 5) % 11) - 5);
    const Owned<OrtValue> input = host.upload(x);
    Binding binding(host, ours);
    binding.input("x", *input.get());
    binding.output("y");
    binding.run();
    CHECK(compareTensors(host.download(*binding.results()[0].get()), theirs.run({{"x", x}})[0].tensor, {1e-4, 1e-3}) ==
          "");
  }
}

}  // namespace
}  // namespace dimple::testing
