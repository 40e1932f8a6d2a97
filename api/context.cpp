#include "api/context.h"

#include "core/text.h"

namespace dimple::api {

HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error) {
  const HRESULT code = refuseEarly(error);
  if (desc.MessageCallback) desc.MessageCallback(desc.MessageContext, DIMPLE_MESSAGE_ERROR, code, error.text.c_str());
  return code;
}

Context::Context(std::unique_ptr<NativeObjects> native, const DimpleContextDesc& desc, const Options& options)
    : device_(ComPtr<Device>::adopt(new Device(std::move(native), desc.DeviceFlags, options))) {
  device_->setCallback(desc.MessageCallback, desc.MessageContext);
}

HRESULT Context::checkTransfer(const char* what, UINT64 size, UINT64 offset, const void* data, UINT64 bytes) {
  if (offset > size || bytes > size - offset)
    return device_->refuse(E_INVALIDARG, cat(what, " has offset (", offset, ") and sizeInBytes (", bytes,
                                             "), outside the buffer of ", size, " bytes."));
  if (bytes == 0) return S_FALSE;
  if (!data) return device_->refuse(E_INVALIDARG, cat(what, ": data is null, expected ", bytes, " bytes."));
  return S_OK;
}

}  // namespace dimple::api
