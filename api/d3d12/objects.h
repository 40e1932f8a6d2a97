// The caller's Direct3D 12 objects as handles of the back end.
#pragma once

#include <memory>

#include "api/com_object.h"
#include "api/native_objects.h"
#include "backend_d3d12/device.h"

namespace dimple::api {

class D3D12Objects final : public NativeObjects {
 public:
  explicit D3D12Objects(std::shared_ptr<d3d12::Device> backend);

  const std::shared_ptr<d3d12::Device>& shared() const { return backend_; }
  Backend& backend() override { return *backend_; }
  // Refuses what kernels cannot bind: objects that are not buffers, buffers in a READBACK heap, and buffers that do not
  // allow unordered access, unless they are in an UPLOAD heap.
  Result<NativeBuffer> buffer(ID3D12Resource* resource) override;
  Result<uint64_t> commandList(ID3D12CommandList* list) override;
  Result<DescriptorRange> descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                      UINT count) override;
  HRESULT removedReason() noexcept override { return backend_->handle().GetDeviceRemovedReason(); }
  bool report(DimpleMessageSeverity severity, const char* text) noexcept override;
  HRESULT parentDevice(REFIID riid, void** ppv) override { return backend_->handle().QueryInterface(riid, ppv); }

 private:
  // Refuses an object of another device. `name` is its name in the call.
  Status checkOurs(ID3D12DeviceChild& child, const char* name) const;

  const std::shared_ptr<d3d12::Device> backend_;
  const ComPtr<IUnknown> identity_;  // of the ID3D12Device
};

}  // namespace dimple::api
