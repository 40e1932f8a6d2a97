// Streams, and notifications in them.
#include <doctest.h>

#include <algorithm>
#include <span>

#include "clients/onnxruntime/streams.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/streams.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::ComPtr;
using onnx::HostTensor;
using onnx::Type;
using Reals = std::vector<double>;

const OrtApi& api() { return *ort::runtime().api; }

// Elements that the host writes and reads, in memory that the device copies from and to.
std::span<float> elementsOf(const OrtValue& value, size_t count) {
  void* data = nullptr;
  checkHost(api().GetTensorMutableData(const_cast<OrtValue*>(&value), &data));
  return {static_cast<float*>(data), count};
}

Reals realsOf(const OrtValue& value, size_t count) {
  const std::span<float> elements = elementsOf(value, count);
  return {elements.begin(), elements.end()};
}

Owned<OrtValue> forCopies(const Host& host, const std::vector<float>& values) {
  Owned<OrtValue> value = host.makeForCopies(Type::Float, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, elementsOf(*value.get(), values.size()).begin());
  return value;
}

std::string negation() {
  ModelMaker maker;
  maker.input("x", Type::Float, {-1});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

// y = -x, both on the device.
void runOnDevice(const HostSession& session, const OrtValue& x, const OrtValue& y, OrtSyncStream* stream = nullptr) {
  Owned<OrtRunOptions> options(api().ReleaseRunOptions);
  checkHost(api().CreateRunOptions(options.put()));
  if (stream) api().RunOptionsSetSyncStream(options.get(), stream);
  const char* const inputs[] = {"x"};
  const char* const outputs[] = {"y"};
  const OrtValue* const in = &x;
  OrtValue* out = const_cast<OrtValue*>(&y);
  checkHost(api().Run(&session.session(), options.get(), inputs, &in, 1, outputs, 1, &out));
}

TEST_CASE("provider streams: copies that the device makes alone are not waited for") {
  const Host host;
  const HostStream stream(host);
  const Owned<OrtValue> from = forCopies(host, {1, 2, 3});
  const Owned<OrtValue> to = forCopies(host, {0, 0, 0});
  const Owned<OrtValue> a = host.makeOnDevice(Type::Float, {3});
  const Owned<OrtValue> b = host.makeOnDevice(Type::Float, {3});
  takeTransfers();
  takeQueueCalls();
  host.copy(*from.get(), *a.get(), stream.get());
  host.copy(*a.get(), *b.get(), stream.get());
  host.copy(*b.get(), *to.get(), stream.get());
  CHECK(takeQueueCalls() == QueueCalls{3, 0, 0});
  Notice done(stream.impl());
  done.activate();
  done.waitOnHost();
  CHECK(realsOf(*to.get(), 3) == Reals{1, 2, 3});
  CHECK(takeQueueCalls() == QueueCalls{1, 1, 1});
  CHECK(takeTransfers() == Transfers{});
}

// Other memory of the host is the caller's as soon as the copy returns.
TEST_CASE("provider streams: copies of other memory of the host are done when they return") {
  const Host host;
  const HostStream stream(host);
  const Owned<OrtValue> a = host.makeOnDevice(Type::Float, {3});
  std::vector<std::byte> memory;
  {
    const Owned<OrtValue> from = valueOf(floats({3}, {4, 5, 6}), memory);
    host.copy(*from.get(), *a.get(), stream.get());
    std::ranges::fill(memory, std::byte{0});
  }
  const Owned<OrtValue> to = valueOf(floats({3}, {0, 0, 0}), memory);
  host.copy(*a.get(), *to.get(), stream.get());
  CHECK(realsOf(*to.get(), 3) == Reals{4, 5, 6});
  // From memory that the device is still copying to.
  const Owned<OrtValue> between = forCopies(host, {0, 0, 0});
  host.copy(*a.get(), *between.get(), stream.get());
  const Owned<OrtValue> last = valueOf(floats({3}, {0, 0, 0}), memory);
  host.copy(*between.get(), *last.get(), stream.get());
  CHECK(realsOf(*last.get(), 3) == Reals{4, 5, 6});
}

TEST_CASE("provider streams: what one stream waits for comes before what it does then") {
  const Host host;
  const HostStream first(host), second(host);
  const HostSession session = host.open(negation());
  const Owned<OrtValue> from = forCopies(host, {1, 2, 3});
  const Owned<OrtValue> to = forCopies(host, {0, 0, 0});
  const Owned<OrtValue> x = host.makeOnDevice(Type::Float, {3});
  const Owned<OrtValue> y = host.makeOnDevice(Type::Float, {3});
  runOnDevice(session, *x.get(), *y.get());
  Notice copied(first.impl()), negated(second.impl());
  for (float round = 1; round < 4; ++round) {
    elementsOf(*from.get(), 3)[0] = round;
    takeQueueCalls();
    host.copy(*from.get(), *x.get(), first.get());
    copied.activate();
    copied.waitOnDevice(second.get());
    CHECK(takeQueueCalls() == QueueCalls{2, 0, 0});
    runOnDevice(session, *x.get(), *y.get(), second.get());
    host.copy(*y.get(), *to.get(), second.get());
    CHECK(takeQueueCalls().waitsForLast == 0);
    negated.activate();
    // Without a stream that waits, it is the host.
    negated.waitOnDevice(nullptr);
    CHECK(realsOf(*to.get(), 3) == Reals{-round, -2, -3});
  }
}

TEST_CASE("provider streams: runs between values on the device are not waited for") {
  const Host host;
  const HostStream stream(host);
  const HostSession session = host.open(negation());
  const Owned<OrtValue> x = host.upload(floats({3}, {1, 2, 3}));
  const Owned<OrtValue> y = host.makeOnDevice(Type::Float, {3});
  for (const bool ownStream : {false, true}) {
    CAPTURE(ownStream);
    OrtSyncStream* const given = ownStream ? stream.get() : nullptr;
    runOnDevice(session, *x.get(), *y.get(), given);
    runOnDevice(session, *y.get(), *x.get(), given);
    takeQueueCalls();
    for (int run = 0; run < 4; ++run) {
      runOnDevice(session, *x.get(), *y.get(), given);
      runOnDevice(session, *y.get(), *x.get(), given);
    }
    const QueueCalls calls = takeQueueCalls();
    CHECK(calls.executions == 8);
    CHECK(calls.waitsForLast == 0);
  }
  CHECK(host.download(*x.get()).reals() == Reals{1, 2, 3});
  // What a program recorded is its own to wait for.
  const Owned<OrtValue> to = forCopies(host, {0, 0, 0});
  host.copy(*y.get(), *to.get(), stream.get());
  takeQueueCalls();
  checkHost(stream.impl().Flush(&stream.impl()));
  checkHost(stream.impl().OnSessionRunEnd(&stream.impl()));
  CHECK(takeQueueCalls() == QueueCalls{});
}

// Where the host has the inputs and outputs, a run returns when it is done with them.
TEST_CASE("provider streams: a run is done with the host's memory when it returns, or in the program's stream") {
  const Host host;
  const HostStream stream(host);
  const HostSession session = host.open(negation());
  const Owned<OrtValue> x = forCopies(host, {1, 2, 3});
  const Owned<OrtValue> y = forCopies(host, {0, 0, 0});
  for (float round = 1; round < 20; ++round) {
    elementsOf(*x.get(), 3)[0] = round;
    runOnDevice(session, *x.get(), *y.get());
    CHECK(realsOf(*y.get(), 3) == Reals{-round, -2, -3});
  }
  runOnDevice(session, *x.get(), *y.get(), stream.get());
  Notice done(stream.impl());
  done.activate();
  done.waitOnHost();
  CHECK(realsOf(*y.get(), 3) == Reals{-19, -2, -3});
}

// ONNX Runtime makes it; groups leave it nothing to wait for, but nodes that it runs itself may.
TEST_CASE("provider streams: a session's waits for copies of the host's memory when it is flushed") {
  const Host host;
  DimpleAdapterDesc adapter{};
  REQUIRE(dimpleEnumerateAdapters(0, &adapter) == S_OK);
  ort::Device device(adapter, "");
  ort::Stream stream(device, ort::Stream::Kind::Session);
  constexpr size_t kBytes = 256;
  const auto rangeOf = [](ort::Heap& heap) { return heap.find(heap.allocate(kBytes), kBytes); };
  const onnx::BufferRange there = rangeOf(device.heap()), here = rangeOf(device.hostHeap());
  stream.addHostCopy(device.submissions().copy(here, there, kBytes));
  takeQueueCalls();
  checkHost(stream.Flush(&stream));
  CHECK(takeQueueCalls() == QueueCalls{0, 1, 1});
  device.submissions().copy(there, there, 0);
  checkHost(stream.Flush(&stream));
  CHECK(takeQueueCalls() == QueueCalls{1, 0, 0});
}

TEST_CASE("provider streams: memory of the host is given to nobody while the device reads it") {
  const Host host;
  const HostStream stream(host);
  const Owned<OrtValue> x = host.makeOnDevice(Type::Float, {3});
  const float* address = nullptr;
  {
    const Owned<OrtValue> from = forCopies(host, {1, 2, 3});
    address = elementsOf(*from.get(), 3).data();
    host.copy(*from.get(), *x.get(), stream.get());
  }
  takeQueueCalls();
  const Owned<OrtValue> next = forCopies(host, {0, 0, 0});
  CHECK(elementsOf(*next.get(), 3).data() == address);
  CHECK(takeQueueCalls() == QueueCalls{0, 1, 1});
  CHECK(host.download(*x.get()).reals() == Reals{1, 2, 3});
}

TEST_CASE("provider streams: any number of copies may be on their way") {
  const Host host;
  const HostStream stream(host);
  const Owned<OrtValue> a = host.upload(floats({3}, {1, 2, 3}));
  const Owned<OrtValue> b = host.makeOnDevice(Type::Float, {3});
  for (int i = 0; i < 700; ++i) {
    host.copy(*a.get(), *b.get(), stream.get());
    host.copy(*b.get(), *a.get(), stream.get());
  }
  CHECK(host.download(*a.get()).reals() == Reals{1, 2, 3});
}

TEST_CASE("provider streams: the handle is the context whose queue it is") {
  const Host host;
  const HostStream first(host), second(host);
  IDimpleContext* const context = &first.context();
  CHECK(context == &second.context());
  const Owned<OrtValue> x = host.upload(floats({3}, {1, 2, 3}));
  const Owned<OrtValue> to = forCopies(host, {0, 0, 0});
  host.copy(*x.get(), *to.get(), first.get());
  ComPtr<ID3D12GraphicsCommandList> list;
  REQUIRE(context->CreateCommandList(&list) == S_OK);
  REQUIRE(list->Close() == S_OK);
  UINT64 fence = 0;
  REQUIRE(context->Execute(list.Get(), &fence) == S_OK);
  REQUIRE(context->Wait(fence) == S_OK);
  CHECK(realsOf(*to.get(), 3) == Reals{1, 2, 3});
}

TEST_CASE("provider streams: what is wrong is a sentence") {
  const Host host;
  const HostStream stream(host);
  Notice notice(stream.impl());
  const std::string never = "A notification that was not activated is waited for.";
  CHECK(refusal([&] { notice.waitOnHost(); }) == never);
  CHECK(refusal([&] { notice.waitOnDevice(stream.get()); }) == never);
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  checkHost(api().GetEpDevices(&host.env(), &devices, &count));
  for (size_t i = 0; i < count; ++i) {
    if (devices[i] == &host.device()) continue;
    OrtSyncStream* none = nullptr;
    CHECK(refusal([&] { checkHost(api().CreateSyncStreamForEpDevice(devices[i], nullptr, &none)); }) != "");
  }
}

TEST_CASE("provider streams: a lost device is a sentence wherever something is waited for") {
  const Host host;
  const Owned<OrtValue> x = host.makeOnDevice(Type::Float, {3});
  const Owned<OrtValue> to = host.makeForCopies(Type::Float, {3});
  const HostStream stream(host), other(host);
  Notice notice(stream.impl()), late(stream.impl());
  notice.activate();
  host.copy(*x.get(), *to.get(), stream.get());
  ComPtr<IDMLDevice> device;
  REQUIRE(stream.context().GetDevice(IID_PPV_ARGS(&device)) == S_OK);
  constexpr INT32 kLost = -4;  // VK_ERROR_DEVICE_LOST
  REQUIRE(dimpleNotifyDeviceLost(device.Get(), kLost) == S_OK);
  const auto tellsOfLoss = [](const std::string& text) {
    CHECK_MESSAGE(text.find("The caller's queue failed with VkResult (-4).") != text.npos, text);
  };
  tellsOfLoss(refusal([&] { late.activate(); }));
  tellsOfLoss(refusal([&] { notice.waitOnHost(); }));
  tellsOfLoss(refusal([&] { notice.waitOnDevice(other.get()); }));
  tellsOfLoss(refusal([&] { checkHost(stream.impl().Flush(&stream.impl())); }));
  tellsOfLoss(refusal([&] { host.copy(*x.get(), *to.get(), stream.get()); }));
  // The next session opens the device anew, and streams that are made then are on that.
  const HostSession session = host.open(negation());
  CHECK(session.run({{"x", floats({2}, {1, 2})}})[0].tensor.reals() == Reals{-1, -2});
  const HostStream next(host);
  const Owned<OrtValue> a = host.upload(floats({2}, {3, 4}));
  const Owned<OrtValue> b = host.makeOnDevice(Type::Float, {2});
  host.copy(*a.get(), *b.get(), next.get());
  CHECK(host.download(*b.get()).reals() == Reals{3, 4});
  // Between two devices it is the host that waits.
  Notice copied(next.impl());
  copied.activate();
  takeQueueCalls();
  copied.waitOnDevice(stream.get());
  CHECK(takeQueueCalls() == QueueCalls{0, 1, 1});
}

}  // namespace
}  // namespace dimple::testing
