// Buffers in memory that another Vulkan device exported, and semaphores of it.
#ifndef _WIN32

#include "tests/api/fixture.h"
#include "tests/exported_memory.h"
#include "tests/exported_semaphore.h"

using namespace dimple::testing;

namespace {

// The device of a program that has enabled no extension.
ComPtr<IDMLDevice> withoutExtensions(const Caller& caller) {
  REQUIRE(caller.ready());
  ComPtr<IDMLDevice> device;
  REQUIRE(dimpleCreateVulkanDevice(&caller.desc(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0,
                                   IID_PPV_ARGS(&device)) == S_OK);
  return device;
}

}  // namespace

GPU_TEST_CASE("memory of another device is a buffer of each that imports it") {
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) return;
  const ExportedMemory exported(4096);
  REQUIRE(exported.file() >= 0);
  Fixture one;
  Fixture two;
  ComPtr<ID3D12Resource> first, second;
  REQUIRE(dimpleImportBuffer(one.device, exported.file(), exported.bytes(), &first) == S_OK);
  REQUIRE(dimpleImportBuffer(two.device, exported.file(), exported.bytes(), &second) == S_OK);
  CHECK(dimpleGetDesc(first.Get()).Width == exported.bytes());
  const std::vector<float> values{1, 2, 3};
  REQUIRE(one.context->Upload(first.Get(), 1024, values.data(), values.size() * sizeof(float)) == S_OK);
  std::vector<float> seen(values.size());
  REQUIRE(two.context->Download(second.Get(), 1024, seen.data(), seen.size() * sizeof(float)) == S_OK);
  CHECK(seen == values);
  // It belongs to one device.
  CHECK(one.context->Download(second.Get(), 0, seen.data(), 4) == E_INVALIDARG);
}

GPU_TEST_CASE("what is no memory of another device is refused") {
  Fixture fixture;
  ComPtr<ID3D12Resource> buffer;
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) {
    CHECK(dimpleImportBuffer(fixture.device, 0, 4096, &buffer) == E_INVALIDARG);
    CHECK(std::string(dimpleGetLastMessage()).starts_with("device is not a Vulkan device"));
    static_cast<void>(fixture.gpu->takeMessages());
    return;
  }
  CHECK(dimpleImportBuffer(fixture.device, 0, 4096, nullptr) == E_POINTER);
  CHECK(dimpleImportBuffer(fixture.device, 0, 0, &buffer) == E_INVALIDARG);
  CHECK(dimpleImportBuffer(fixture.device, -1, 4096, &buffer) == E_INVALIDARG);
  CHECK(std::string(dimpleGetLastMessage()) == "file has value (-1), which is not an open file descriptor.");
  CHECK(dimpleImportBuffer(nullptr, -1, 4096, &buffer) == E_INVALIDARG);
  static_cast<void>(fixture.gpu->takeMessages());

  const Caller caller;
  const ComPtr<IDMLDevice> device = withoutExtensions(caller);
  CHECK(dimpleImportBuffer(device.Get(), -1, 0, nullptr) == DXGI_ERROR_UNSUPPORTED);
  CHECK(std::string(dimpleGetLastMessage()) ==
        "The device cannot import memory by file descriptors: it lacks VK_KHR_external_memory_fd, or the extension is "
        "not enabled.");
}

// Lavapipe exports none; over the layer of tests/semaphore_layer it does.
GPU_TEST_CASE("semaphores of another device are waited for and signalled in the order of a queue") {
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) return;
  const ExportedSemaphore exported;
  if (exported.file() < 0) {
    MESSAGE("Skipped: the device exports no timeline semaphores by file descriptors.");
    return;
  }
  Fixture fixture;
  ComPtr<ID3D12Fence> semaphore;
  REQUIRE(dimpleImportSemaphore(fixture.device, exported.file(), &semaphore) == S_OK);
  CHECK(semaphore->GetCompletedValue() == 0);
  CHECK(semaphore->Signal(1) == E_NOTIMPL);
  CHECK(semaphore->SetEventOnCompletion(1, nullptr) == E_NOTIMPL);
  REQUIRE(dimpleWaitSemaphore(fixture.device, semaphore.Get(), 1) == S_OK);
  REQUIRE(dimpleSignalSemaphore(fixture.device, semaphore.Get(), 2) == S_OK);
  CHECK(!exported.wait(2, std::chrono::milliseconds(50)));
  REQUIRE(exported.signal(1));
  CHECK(exported.wait(2, std::chrono::seconds(10)));
  CHECK(dimpleSignalSemaphore(fixture.device, semaphore.Get(), 2) == E_INVALIDARG);
  CHECK(semaphore->GetCompletedValue() == 2);
  Fixture other;
  CHECK(dimpleWaitSemaphore(other.device, semaphore.Get(), 3) == E_INVALIDARG);
  static_cast<void>(fixture.gpu->takeMessages());
  static_cast<void>(other.gpu->takeMessages());
}

GPU_TEST_CASE("what is no semaphore of another device is refused") {
  Fixture fixture;
  ComPtr<ID3D12Fence> semaphore;
  const auto isRefused = [&](HRESULT result, HRESULT code, const std::string& text) {
    CHECK(result == code);
    CHECK(std::string(dimpleGetLastMessage()).starts_with(text));
  };
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) {
    const std::string other = "device is not a Vulkan device";
    isRefused(dimpleImportSemaphore(fixture.device, 0, &semaphore), E_INVALIDARG, other);
    isRefused(dimpleWaitSemaphore(fixture.device, nullptr, 1), E_INVALIDARG, other);
    isRefused(dimpleSignalSemaphore(fixture.device, nullptr, 1), E_INVALIDARG, other);
    static_cast<void>(fixture.gpu->takeMessages());
    return;
  }
  const std::string none = "semaphore is not a live semaphore that the device imported.";
  isRefused(dimpleWaitSemaphore(fixture.device, nullptr, 1), E_INVALIDARG, none);
  isRefused(dimpleSignalSemaphore(fixture.device, nullptr, 1), E_INVALIDARG, none);
  if (ExportedSemaphore().file() >= 0) {
    isRefused(dimpleImportSemaphore(fixture.device, 0, nullptr), E_POINTER, "semaphore is null");
    isRefused(dimpleImportSemaphore(fixture.device, -1, &semaphore), E_INVALIDARG,
              "file has value (-1), which is not an open file descriptor.");
  } else {
    isRefused(dimpleImportSemaphore(fixture.device, -1, nullptr), DXGI_ERROR_UNSUPPORTED,
              "The device cannot import semaphores by file descriptors: ");
  }
  static_cast<void>(fixture.gpu->takeMessages());

  const Caller caller;
  const ComPtr<IDMLDevice> device = withoutExtensions(caller);
  isRefused(dimpleImportSemaphore(device.Get(), -1, nullptr), DXGI_ERROR_UNSUPPORTED,
            "The device cannot import semaphores by file descriptors: it lacks VK_KHR_external_semaphore_fd, or the "
            "extension is not enabled.");
}

#endif
