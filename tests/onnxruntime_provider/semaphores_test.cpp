// Semaphores that another Vulkan device exported, in streams. Lavapipe exports none; the layer of tests/semaphore_layer
// does it in its place.
#include <doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/exported_semaphore.h"
#include "tests/onnx/model_builder.h"
#include "tests/onnxruntime_provider/host.h"
#include "tests/onnxruntime_provider/streams.h"
#include "tests/onnxruntime_provider/transfers.h"

namespace dimple::testing {
namespace {

using onnx::ComPtr;
using onnx::Type;
using Reals = std::vector<double>;

// Longer than anything here takes, and than what is to happen later takes to begin.
constexpr std::chrono::seconds kLong(10);
constexpr std::chrono::milliseconds kShort(50);

const OrtApi& api() { return *ort::runtime().api; }
const OrtInteropApi& interop() { return *api().GetInteropApi(); }

class Imports {
 public:
  explicit Imports(const Host& host) : importer_(interop().ReleaseExternalResourceImporter) {
    checkHost(interop().CreateExternalResourceImporterForDevice(&host.device(), importer_.put()));
  }

  bool can(OrtExternalSemaphoreType type = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD) const {
    bool can = false;
    checkHost(interop().CanImportSemaphore(importer_.get(), type, &can));
    return can;
  }
  Owned<OrtExternalSemaphoreHandle> semaphore(
      int file, OrtExternalSemaphoreType type = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD) const {
    OrtExternalSemaphoreDescriptor desc{};
    desc.version = ort::runtime().apiVersion;
    desc.type = type;
    desc.native_handle = reinterpret_cast<void*>(static_cast<intptr_t>(file));
    Owned<OrtExternalSemaphoreHandle> semaphore(interop().ReleaseExternalSemaphoreHandle);
    checkHost(interop().ImportSemaphore(importer_.get(), &desc, semaphore.put()));
    return semaphore;
  }
  void wait(const Owned<OrtExternalSemaphoreHandle>& semaphore, const HostStream& stream, uint64_t value) const {
    checkHost(interop().WaitSemaphore(importer_.get(), semaphore.get(), stream.get(), value));
  }
  void signal(const Owned<OrtExternalSemaphoreHandle>& semaphore, const HostStream& stream, uint64_t value) const {
    checkHost(interop().SignalSemaphore(importer_.get(), semaphore.get(), stream.get(), value));
  }

 private:
  Owned<OrtExternalResourceImporter> importer_;
};

bool canExport(const ExportedSemaphore& exported) {
  if (exported.file() >= 0) return true;
  MESSAGE("Skipped: the device exports no timeline semaphores by file descriptors.");
  return false;
}

float& firstOf(const OrtValue& value) {
  void* data = nullptr;
  checkHost(api().GetTensorMutableData(const_cast<OrtValue*>(&value), &data));
  return *static_cast<float*>(data);
}

std::string negation() {
  ModelMaker maker;
  maker.input("x", Type::Float, {1});
  maker.node("Neg", {"x"}, {"y"});
  maker.output("y");
  return maker.bytes();
}

TEST_CASE("provider semaphores: a stream goes on when another device says so, and says when it is done") {
  const ExportedSemaphore exported;
  if (!canExport(exported)) return;
  const Host host;
  const Imports imports(host);
  CHECK(imports.can());
  const auto semaphore = imports.semaphore(exported.file());
  const HostStream stream(host);
  const HostSession session = host.open(negation());
  const Owned<OrtValue> from = host.makeForCopies(Type::Float, {1});
  const Owned<OrtValue> to = host.makeForCopies(Type::Float, {1});
  const Owned<OrtValue> x = host.makeOnDevice(Type::Float, {1});
  const Owned<OrtValue> y = host.makeOnDevice(Type::Float, {1});
  Owned<OrtRunOptions> options(api().ReleaseRunOptions);
  checkHost(api().CreateRunOptions(options.put()));
  api().RunOptionsSetSyncStream(options.get(), stream.get());
  const char* const inputs[] = {"x"};
  const char* const outputs[] = {"y"};
  const auto run = [&] {
    const OrtValue* const in = x.get();
    OrtValue* out = y.get();
    checkHost(api().Run(&session.session(), options.get(), inputs, &in, 1, outputs, 1, &out));
  };
  // The first run waits for what it initializes.
  host.copy(*from.get(), *x.get());
  run();
  for (uint64_t round = 0; round < 3; ++round) {
    CAPTURE(round);
    firstOf(*to.get()) = 0;
    takeQueueCalls();
    imports.wait(semaphore, stream, 2 * round + 1);
    host.copy(*from.get(), *x.get(), stream.get());
    run();
    host.copy(*y.get(), *to.get(), stream.get());
    imports.signal(semaphore, stream, 2 * round + 2);
    // Nothing of it is done, and the host did not wait for it.
    std::this_thread::sleep_for(kShort);
    CHECK(exported.value() == 2 * round);
    CHECK(firstOf(*to.get()) == 0);
    CHECK(takeQueueCalls().waitsForLast == 0);
    const float given = static_cast<float>(round) + 3;
    firstOf(*from.get()) = given;
    REQUIRE(exported.signal(2 * round + 1));
    REQUIRE(exported.wait(2 * round + 2, kLong));
    CHECK(exported.value() == 2 * round + 2);
    CHECK(firstOf(*to.get()) == -given);
  }
}

TEST_CASE("provider semaphores: each stream of the device goes on with the value that it waits for") {
  const ExportedSemaphore exported;
  if (!canExport(exported)) return;
  const Host host;
  const Imports imports(host);
  const auto semaphore = imports.semaphore(exported.file());
  const auto again = imports.semaphore(exported.file());
  const HostStream first(host), second(host);
  imports.wait(semaphore, first, 4);
  imports.signal(semaphore, first, 5);
  imports.wait(again, second, 7);
  imports.signal(again, second, 8);
  CHECK(!exported.wait(1, kShort));
  REQUIRE(exported.signal(3));
  CHECK(!exported.wait(4, kShort));
  REQUIRE(exported.signal(4));
  CHECK(exported.wait(5, kLong));
  CHECK(!exported.wait(6, kShort));
  REQUIRE(exported.signal(7));
  CHECK(exported.wait(8, kLong));
  // What has been reached is not waited for.
  imports.wait(semaphore, first, 2);
  const Owned<OrtValue> x = host.upload(floats({1}, {1}));
  CHECK(host.download(*x.get()).reals() == Reals{1});
}

TEST_CASE("provider semaphores: what is wrong is a sentence, and changes nothing") {
  const ExportedSemaphore exported;
  if (!canExport(exported)) return;
  const Host host;
  const Imports imports(host);
  const auto contains = [](const std::string& all, const std::string& part) {
    CHECK_MESSAGE(all.find(part) != all.npos, all);
  };
  contains(refusal([&] { imports.semaphore(-1); }), "file has value (-1), which is not an open file descriptor.");
  const auto semaphore = imports.semaphore(exported.file());
  const HostStream stream(host);
  imports.signal(semaphore, stream, 3);
  contains(refusal([&] { imports.signal(semaphore, stream, 3); }),
           "value has value (3), expected more than 3, which the semaphore has reached or will reach.");
  CHECK(exported.wait(3, kLong));
  // To NVIDIA's driver no value is too far ahead.
  if (exported.mostAhead() < UINT64_MAX - 3) {
    contains(refusal([&] { imports.wait(semaphore, stream, UINT64_MAX); }),
             " more than 3, which the semaphore has reached.");
    contains(refusal([&] { imports.signal(semaphore, stream, UINT64_MAX); }),
             " more than 3, which the semaphore has reached.");
  }
  imports.signal(semaphore, stream, 4);
  CHECK(exported.wait(4, kLong));
  // Another device: the one before was lost.
  ComPtr<IDMLDevice> device;
  REQUIRE(stream.context().GetDevice(IID_PPV_ARGS(&device)) == S_OK);
  constexpr INT32 kLost = -4;  // VK_ERROR_DEVICE_LOST
  REQUIRE(dimpleNotifyDeviceLost(device.Get(), kLost) == S_OK);
  contains(refusal([&] { imports.signal(semaphore, stream, 5); }), "The caller's queue failed with VkResult (-4).");
  contains(refusal([&] { imports.wait(semaphore, stream, 5); }), "The caller's queue failed with VkResult (-4).");
  const HostSession session = host.open(negation());
  const HostStream next(host);
  contains(refusal([&] { imports.signal(semaphore, next, 5); }),
           "A semaphore is used in a stream of a device that did not import it.");
  CHECK(exported.value() == 4);
}

TEST_CASE("provider semaphores: other types are refused with what there is, as are all where there is none") {
  const ExportedSemaphore exported;
  const Host host;
  const Imports imports(host);
  CHECK(imports.can() == (exported.file() >= 0));
  for (const auto type : {ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_WIN32}) {
    CHECK(!imports.can(type));
    CHECK(refusal([&] { imports.semaphore(0, type); }) ==
          "Dimple's execution provider imports Vulkan timeline semaphores only by file descriptors "
          "(ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD).");
  }
  if (exported.file() >= 0) return;
  CHECK(refusal([&] {
          imports.semaphore(0);
        }).starts_with("A semaphore cannot be imported: The device cannot import semaphores by file descriptors: "));
}

// The last of all: after it NVIDIA's driver 580 imports no semaphore in this process any more.
TEST_CASE("provider semaphores: what Vulkan has not exported is refused") {
  const ExportedSemaphore exported;
  if (!canExport(exported)) return;
  const Host host;
  const Imports imports(host);
  const int other = open("/dev/null", O_RDWR);
  const std::string text = refusal([&] { imports.semaphore(other); });
  CHECK_MESSAGE(text.find("expected a timeline semaphore that Vulkan exported") != text.npos, text);
  CHECK(close(other) == 0);
}

}  // namespace
}  // namespace dimple::testing
