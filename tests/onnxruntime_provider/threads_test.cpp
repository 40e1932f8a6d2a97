// Threads that run models at once. The thread sanitizer looks at them (provider_thread_tests).
#include <doctest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "clients/onnxruntime/graph_reader.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/streams.h"

namespace dimple::testing {
namespace {

using onnx::Type;
using Reals = std::vector<double>;

constexpr int kThreads = 8;

// y = (a + b) * a + 1
std::string sumModel() {
  ModelMaker maker;
  maker.input("a", Type::Float, {-1, 2});
  maker.input("b", Type::Float, {-1, 2});
  maker.initializer("one", floats({1}, {1}));
  maker.node("Add", {"a", "b"}, {"sum"});
  maker.node("Mul", {"sum", "a"}, {"product"});
  maker.node("Add", {"product", "one"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

// With sizes that change. How many results are wrong.
int runOften(const HostSession& session, int thread, int times) {
  int wrong = 0;
  for (int i = 0; i < times; ++i) {
    const auto rows = static_cast<int64_t>(1 + (thread + i) % 3);
    const Reals values(static_cast<size_t>(rows) * 2, thread + 1);
    const auto outputs = session.run({{"a", floats({rows, 2}, values)}, {"b", floats({rows, 2}, values)}});
    wrong += outputs[0].tensor.reals() != Reals(values.size(), 2.0 * (thread + 1) * (thread + 1) + 1);
  }
  return wrong;
}

// All at once: `body` is given the thread's number, and returns how much is wrong.
template <class Body>
void runThreads(Body body) {
  std::atomic<int> wrong = 0;
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        wrong += body(t);
      } catch (const std::exception& error) {
        MESSAGE(error.what());
        ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

// Lavapipe keeps the types of all kernels of a process behind locks that the thread sanitizer does not see. Here one
// thread makes them, before there are others: with one kernel at a time, since those of a graph are compiled by
// several.
void warmUp(const Host& host) {
  for (const char* type : {"Add", "Mul"}) {
    ModelMaker maker;
    maker.input("a", Type::Float, {-1, 2});
    maker.input("b", Type::Float, {-1, 2});
    maker.node(type, {"a", "b"}, {"y"});
    maker.output("y");
    CHECK(host.open(maker.bytes()).run({{"a", floats({1, 2}, {1, 2})}, {"b", floats({1, 2}, {1, 2})}}).size() == 1);
  }
  CHECK(runOften(host.open(sumModel()), 0, 3) == 0);
}

TEST_CASE("provider threads: eight share a session") {
  const Host host;
  warmUp(host);
  const HostSession session = host.open(sumModel());
  runThreads([&](int thread) { return runOften(session, thread, 20); });
}

TEST_CASE("provider threads: eight make and run sessions of their own") {
  const Host host;
  warmUp(host);
  runThreads([&](int thread) {
    int wrong = 0;
    for (int i = 0; i < 3; ++i) wrong += runOften(host.open(sumModel()), thread, 4);
    return wrong;
  });
}

TEST_CASE("provider threads: eight move tensors between host and device") {
  const Host host;
  warmUp(host);
  runThreads([&](int thread) {
    int wrong = 0;
    for (int i = 0; i < 20; ++i) {
      const auto numbers = floats({1 + thread * 100 + i}, Reals(static_cast<size_t>(1 + thread * 100 + i), thread));
      const Owned<OrtValue> first = host.upload(numbers);
      const Owned<OrtValue> second = host.makeOnDevice(Type::Float, numbers.sizes);
      host.copy(*first.get(), *second.get());
      wrong += host.download(*second.get()).reals() != numbers.reals();
    }
    return wrong;
  });
}

TEST_CASE("provider threads: eight copy tensors on streams of their own, which wait for a common one") {
  const Host host;
  warmUp(host);
  const HostStream common(host);
  const Owned<OrtValue> first = host.upload(floats({4}, {1, 2, 3, 4}));
  const Owned<OrtValue> shared = host.makeOnDevice(Type::Float, {4});
  host.copy(*first.get(), *shared.get(), common.get());
  Notice copied(common.impl());
  copied.activate();
  runThreads([&](int) {
    int wrong = 0;
    const HostStream stream(host);
    Notice done(stream.impl());
    for (int i = 0; i < 20; ++i) {
      const Owned<OrtValue> own = host.makeOnDevice(Type::Float, {4});
      const Owned<OrtValue> to = host.makeForCopies(Type::Float, {4});
      copied.waitOnDevice(stream.get());
      host.copy(*shared.get(), *own.get(), stream.get());
      host.copy(*own.get(), *to.get(), stream.get());
      done.activate();
      done.waitOnHost();
      wrong += ort::readTensor(*to.get())->reals() != Reals{1, 2, 3, 4};
    }
    return wrong;
  });
}

}  // namespace
}  // namespace dimple::testing
