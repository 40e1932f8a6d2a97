// How the API turns the D3D12 objects that DirectML.h takes into handles of a back end.
#pragma once

#include <dimple.h>

#include "core/backend.h"
#include "core/result.h"

namespace dimple::api {

class NativeObjects {
 public:
  virtual ~NativeObjects() = default;
  virtual Backend& backend() = 0;
  // Refuses a pointer that is not a live buffer of this device.
  virtual Result<NativeBuffer> buffer(ID3D12Resource* resource) = 0;
  virtual Result<uint64_t> commandList(ID3D12CommandList* list) = 0;
  virtual Result<DescriptorRange> descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                              UINT count) = 0;
  // Returns why the underlying device is gone; S_OK if it is not known to be gone.
  virtual HRESULT removedReason() noexcept { return S_OK; }
  // Hands a message to the debugger of the underlying API. Returns false if there is none.
  virtual bool report(DimpleMessageSeverity, const char*) noexcept { return false; }
  // The device that GetParentDevice returns.
  virtual HRESULT parentDevice(REFIID riid, void** ppv) = 0;
};

}  // namespace dimple::api
