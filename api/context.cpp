#include "api/context.h"

#include "api/device.h"
#include "api/guard.h"
#include "core/text.h"

namespace dimple::api {

HRESULT checkTransfer(Device& device, const char* what, UINT64 size, UINT64 offset, const void* data, UINT64 bytes) {
  if (offset > size || bytes > size - offset)
    return device.refuse(E_INVALIDARG, cat(what, " has offset (", offset, ") and sizeInBytes (", bytes,
                                           "), outside the buffer of ", size, " bytes."));
  if (bytes == 0) return S_FALSE;
  if (!data) return device.refuse(E_INVALIDARG, cat(what, ": data is null, expected ", bytes, " bytes."));
  return S_OK;
}

HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error) {
  setLastMessage(error.text);
  const HRESULT code = resultOf(error.code);
  if (desc.MessageCallback) desc.MessageCallback(desc.MessageContext, DIMPLE_MESSAGE_ERROR, code, error.text.c_str());
  return code;
}

#ifndef DIMPLE_WITH_D3D12
namespace {
Error withoutD3D12() { return {ErrorCode::Unsupported, "This build of Dimple has no Direct3D 12 back end."}; }
}  // namespace

HRESULT createD3D12Context(const DimpleContextDesc& desc, REFIID, void**) {
  return refuseContext(desc, withoutD3D12());
}
Result<DimpleAdapterDesc> describeD3D12Adapter(UINT) { return withoutD3D12(); }
#endif

}  // namespace dimple::api

using namespace dimple;
using namespace dimple::api;

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

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateBackendAdapters(DimpleBackend backend, UINT index,
                                                                    DimpleAdapterDesc* desc) {
  if (!desc) return E_POINTER;
  return guarded([&]() -> HRESULT {
    const auto found = describeAdapter(backend, index);
    if (!found) return refuseContext({}, found.error());
    *desc = *found;
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateAdapters(UINT index, DimpleAdapterDesc* desc) {
  return dimpleEnumerateBackendAdapters(DIMPLE_BACKEND_VULKAN, index, desc);
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateContext(const DimpleContextDesc* desc, REFIID riid, void** ppv) {
  if (!ppv) return E_POINTER;
  *ppv = nullptr;
  const DimpleContextDesc given = desc ? *desc : DimpleContextDesc{};
  return guarded([&]() -> HRESULT {
    switch (given.Backend) {
      case DIMPLE_BACKEND_VULKAN:
        return createVulkanContext(given, riid, ppv);
      case DIMPLE_BACKEND_D3D12:
        return createD3D12Context(given, riid, ppv);
    }
    return refuseContext(given, unknownBackend(given.Backend));
  });
}
