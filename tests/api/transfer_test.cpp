// Buffers in memory of the host, for copies only.
#include "tests/api/fixture.h"

using namespace dimple::testing;

GPU_TEST_CASE("a transfer buffer is copied from and to") {
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) return;
  Fixture fixture;
  const std::vector<float> values{1, 2, 3, 4};
  const UINT64 bytes = values.size() * sizeof(float);
  void* address = nullptr;
  ComPtr<ID3D12Resource> host;
  REQUIRE(dimpleCreateTransferBuffer(fixture.device, 2 * bytes, &host, &address) == S_OK);
  CHECK(dimpleGetDesc(host.Get()).Width == 2 * bytes);
  const auto there = fixture.buffer(bytes);
  auto* const floats = static_cast<float*>(address);
  std::copy(values.begin(), values.end(), floats);
  const auto copy = [&](ID3D12Resource* to, UINT64 offset, ID3D12Resource* from) {
    const auto list = fixture.list();
    list->CopyBufferRegion(to, offset, from, 0, bytes);
    REQUIRE(list->Close() == S_OK);
    fixture.execute(list);
  };
  copy(there.Get(), 0, host.Get());
  CHECK(fixture.read(there, values.size()) == values);
  copy(host.Get(), bytes, there.Get());
  CHECK(std::equal(values.begin(), values.end(), floats + values.size()));
  // A context's methods take it, too.
  CHECK(fixture.read(host, values.size()) == values);
}

GPU_TEST_CASE("a transfer buffer is no binding, and is refused with a sentence") {
  Fixture fixture;
  void* address = nullptr;
  ComPtr<ID3D12Resource> host;
  if (currentBackend() != DIMPLE_BACKEND_VULKAN) {
    CHECK(dimpleCreateTransferBuffer(fixture.device, 64, &host, &address) == E_INVALIDARG);
    CHECK(std::string(dimpleGetLastMessage()).starts_with("device is not a Vulkan device"));
    static_cast<void>(fixture.gpu->takeMessages());
    return;
  }
  CHECK(dimpleCreateTransferBuffer(fixture.device, 64, nullptr, &address) == E_POINTER);
  CHECK(dimpleCreateTransferBuffer(fixture.device, 64, &host, nullptr) == E_POINTER);
  CHECK(dimpleCreateTransferBuffer(fixture.device, 0, &host, &address) == E_INVALIDARG);
  REQUIRE(dimpleCreateTransferBuffer(fixture.device, 64, &host, &address) == S_OK);
  const auto op = fixture.compile("ELEMENT_WISE_ABS InputTensor=f32[4] OutputTensor=f32[4]");
  const auto table = fixture.table(op.Get(), fixture.heap(2));
  bindInputs(table, {host.Get()});
  CHECK(fixture.device->GetDeviceRemovedReason() != S_OK);
  const std::string text = dimpleGetLastMessage();
  CHECK_MESSAGE(text.find("Buffer is for transfers only (dimpleCreateTransferBuffer).") != text.npos, text);
  static_cast<void>(fixture.gpu->takeMessages());
}
