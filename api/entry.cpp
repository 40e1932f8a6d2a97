// The functions of dimple.h.
#include "api/context.h"
#include "api/d3d12/context.h"
#include "api/device.h"
#include "api/guard.h"
#include "api/vulkan/context.h"
#include "core/text.h"

using namespace dimple;
using namespace dimple::api;

#ifndef DIMPLE_WITH_D3D12
namespace {
Error withoutD3D12() { return {ErrorCode::Unsupported, "This build of Dimple has no Direct3D 12 back end."}; }
}  // namespace

HRESULT dimple::api::createD3D12Context(const DimpleContextDesc& desc, REFIID, void**) {
  return refuseContext(desc, withoutD3D12());
}
Result<DimpleAdapterDesc> dimple::api::describeD3D12Adapter(UINT) { return withoutD3D12(); }
#endif

namespace {

Error unknownBackend(DimpleBackend backend) {
  return {ErrorCode::InvalidArgument, cat("Backend has value (", static_cast<int>(backend),
                                          "), expected DIMPLE_BACKEND_VULKAN (0) or DIMPLE_BACKEND_D3D12 (1).")};
}

Result<DimpleAdapterDesc> describeAdapter(DimpleBackend backend, UINT index) {
  switch (backend) {
    case DIMPLE_BACKEND_VULKAN:
      return describeVulkanAdapter(index);
    case DIMPLE_BACKEND_D3D12:
      return describeD3D12Adapter(index);
  }
  return unknownBackend(backend);
}

}  // namespace

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetVersion() { return DIMPLE_VERSION_STRING; }

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetLastMessage() { return lastMessage(); }

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSetMessageCallback(IDMLDevice* device, DimpleMessageCallback callback,
                                                              void* context) {
  return guarded(NoObject(), "dimpleSetMessageCallback", [&] {
    const auto own = Live<Device>::find(device);
    if (!own) return notOurs();
    own->setCallback(callback, context);
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateBackendAdapters(DimpleBackend backend, UINT index,
                                                                    DimpleAdapterDesc* desc) {
  return guarded(NoObject(), "dimpleEnumerateBackendAdapters", [&]() -> HRESULT {
    if (!desc) return refuseEarly(E_POINTER, "desc is null, expected where to put the description.");
    const auto found = describeAdapter(backend, index);
    if (!found) return refuseEarly(found.error());
    *desc = *found;
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateAdapters(UINT index, DimpleAdapterDesc* desc) {
  return dimpleEnumerateBackendAdapters(DIMPLE_BACKEND_VULKAN, index, desc);
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateContext(const DimpleContextDesc* desc, REFIID riid, void** ppv) {
  // Reports refusals before there is a device.
  struct Early {
    DimpleContextDesc desc;
    HRESULT refuse(HRESULT code, const char* text) const noexcept { return refuseContext(desc, code, text); }
  } early{desc ? *desc : DimpleContextDesc{}};
  return guarded(early, "dimpleCreateContext", [&]() -> HRESULT {
    if (!ppv) return early.refuse(E_POINTER, "ppv is null, expected where to put the context.");
    *ppv = nullptr;
    switch (early.desc.Backend) {
      case DIMPLE_BACKEND_VULKAN:
        return createVulkanContext(early.desc, riid, ppv);
      case DIMPLE_BACKEND_D3D12:
        return createD3D12Context(early.desc, riid, ppv);
    }
    return refuseContext(early.desc, unknownBackend(early.desc.Backend));
  });
}
