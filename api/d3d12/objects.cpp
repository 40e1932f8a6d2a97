#include "api/d3d12/objects.h"

#include <directx/d3d12sdklayers.h>

#include "api/device.h"
#include "api/guard.h"
#include "api/options.h"
#include "backend_d3d12/fault.h"
#include "core/text.h"

namespace dimple::api {
namespace {

using d3d12::Outcome;

// Null if the object does not have the interface.
template <class Interface>
Result<ComPtr<Interface>> query(IUnknown& object) {
  Interface* found = nullptr;
  const Outcome asked("QueryInterface", object.QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(&found)));
  if (asked.isAccident()) return asked.error();
  return ComPtr<Interface>::adopt(asked ? found : nullptr);
}

// Every object has an IUnknown, and asking for it takes no memory.
ComPtr<IUnknown> identityOf(IUnknown& object) {
  auto identity = query<IUnknown>(object);
  return identity ? std::move(*identity) : ComPtr<IUnknown>();
}

}  // namespace

D3D12Objects::D3D12Objects(std::shared_ptr<d3d12::Device> backend)
    : backend_(std::move(backend)), identity_(identityOf(backend_->handle())) {}

Status D3D12Objects::checkOurs(ID3D12DeviceChild& child, const char* name) const {
  ID3D12Device* device = nullptr;
  const Outcome asked("GetDevice", child.GetDevice(__uuidof(ID3D12Device), reinterpret_cast<void**>(&device)));
  if (asked.isAccident()) return asked.error();
  const auto owner = ComPtr<ID3D12Device>::adopt(asked ? device : nullptr);
  if (owner && identityOf(*owner).get() == identity_.get()) return {};
  return invalid(cat(name, " belongs to another Direct3D 12 device."));
}

Result<NativeBuffer> D3D12Objects::buffer(ID3D12Resource* resource) {
  if (!resource) return invalid("Buffer is null, expected an ID3D12Resource.");
  TRY(checkOurs(*resource, "Buffer"));
  const D3D12_RESOURCE_DESC desc = dimpleGetDesc(resource);
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER)
    return invalid(cat("Buffer has Dimension (", static_cast<int>(desc.Dimension), "), expected BUFFER (1)."));
  D3D12_HEAP_PROPERTIES heap{};
  // Reserved resources have no heap of their own and answer an error; they are as good as DEFAULT.
  const Outcome asked("GetHeapProperties", resource->GetHeapProperties(&heap, nullptr));
  if (asked.isAccident()) return asked.error();
  if (!asked) heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  if (heap.Type == D3D12_HEAP_TYPE_READBACK)
    return invalid(
        "Buffer is in a READBACK heap, expected a DEFAULT, CUSTOM or, for an initializer's inputs, UPLOAD heap.");
  const bool upload = heap.Type == D3D12_HEAP_TYPE_UPLOAD;
  if (!upload && !(desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS))
    return invalid("Buffer was created without D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, which binding it needs.");
  return NativeBuffer{reinterpret_cast<uintptr_t>(resource), desc.Width, upload};
}

Result<uint64_t> D3D12Objects::commandList(ID3D12CommandList* list) {
  if (!list) return invalid("commandList is null, expected an ID3D12GraphicsCommandList.");
  const auto held = query<ID3D12GraphicsCommandList>(*list);
  if (!held) return held.error();
  ID3D12GraphicsCommandList* const graphics = held->get();
  if (!graphics) return invalid("commandList is not an ID3D12GraphicsCommandList.");
  const D3D12_COMMAND_LIST_TYPE type = graphics->GetType();
  if (type != D3D12_COMMAND_LIST_TYPE_DIRECT && type != D3D12_COMMAND_LIST_TYPE_COMPUTE)
    return invalid(cat("commandList has type (", static_cast<int>(type), "), expected DIRECT (0) or COMPUTE (2)."));
  TRY(checkOurs(*graphics, "commandList"));
  return reinterpret_cast<uintptr_t>(graphics);
}

Result<DescriptorRange> D3D12Objects::descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                                  UINT count) {
  if (cpu.ptr == 0) return invalid("CPUDescriptorHandle is null, expected one of a CBV_SRV_UAV heap.");
  if (gpu.ptr == 0) return invalid("GPUDescriptorHandle is null, expected one of a shader-visible CBV_SRV_UAV heap.");
  return DescriptorRange{nullptr, cpu.ptr, gpu.ptr, count, backend_->descriptorIncrement()};
}

bool D3D12Objects::report(DimpleMessageSeverity severity, const char* text) noexcept {
  ID3D12InfoQueue* found = nullptr;
  const Outcome asked("QueryInterface",
                      backend_->handle().QueryInterface(__uuidof(ID3D12InfoQueue), reinterpret_cast<void**>(&found)));
  if (asked) {
    const auto queue = ComPtr<ID3D12InfoQueue>::adopt(found);
    const auto level =
        severity == DIMPLE_MESSAGE_WARNING ? D3D12_MESSAGE_SEVERITY_WARNING : D3D12_MESSAGE_SEVERITY_ERROR;
    return static_cast<bool>(Outcome("AddApplicationMessage", queue->AddApplicationMessage(level, text)));
  }
#ifdef _WIN32
  for (const char* part : {"dimple: ", text, "\n"}) OutputDebugStringA(part);
#endif
  return false;
}

}  // namespace dimple::api

using namespace dimple;
using namespace dimple::api;

STDAPI DMLCreateDevice1(ID3D12Device* d3d12Device, DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL minimumFeatureLevel,
                        REFIID riid, void** ppv) {
  return guarded(NoObject(), "DMLCreateDevice1", [&]() -> HRESULT {
    if (ppv) *ppv = nullptr;
    if (!d3d12Device) return refuseEarly(E_INVALIDARG, "d3d12Device is null, expected an ID3D12Device.");
    if (auto status = checkCreation(flags, minimumFeatureLevel); !status) return refuseEarly(status.error());
    const auto options = readOptions(nullptr);
    if (!options) return refuseEarly(options.error());
    auto backend = d3d12::Device::create(d3d12Device, *options);
    if (!backend) return refuseEarly(backend.error());
    if (!ppv) return S_OK;
    return handOut(
        static_cast<IDMLDevice1*>(new Device(
            std::make_unique<D3D12Objects>(std::shared_ptr<d3d12::Device>(std::move(*backend))), flags, *options)),
        riid, ppv);
  });
}

STDAPI DMLCreateDevice(ID3D12Device* d3d12Device, DML_CREATE_DEVICE_FLAGS flags, REFIID riid, void** ppv) {
  return DMLCreateDevice1(d3d12Device, flags, DML_FEATURE_LEVEL_1_0, riid, ppv);
}
