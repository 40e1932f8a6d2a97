// What ready-made contexts share, whatever their back end.
#pragma once

#include <memory>

#include "api/device.h"

namespace dimple::api {

// A refusal before there is a device to report it: to the description's callback.
HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error);

// A context's DirectML device, and what needs nothing of a back end.
class Context : public ComObject<IDimpleContext, IDimpleContext> {
 public:
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) override { return device_->QueryInterface(riid, ppv); }

 protected:
  Context(std::unique_ptr<NativeObjects> native, const DimpleContextDesc& desc, const Options& options);
  HRESULT answer(const Status& status) { return status ? S_OK : device_->refuse(status.error()); }
  // Refuses a transfer that does not fit its buffer of `size` bytes; S_FALSE if there is nothing to transfer.
  HRESULT checkTransfer(const char* what, UINT64 size, UINT64 offset, const void* data, UINT64 bytes);

  const ComPtr<Device> device_;
};

}  // namespace dimple::api
