#include "backend_d3d12/fault.h"

#include <cstdint>
#include <cstdio>

#include "core/text.h"

namespace dimple::d3d12 {
namespace {

std::string_view resultName(HRESULT result) {
  switch (result) {
    case E_OUTOFMEMORY:
      return "E_OUTOFMEMORY";
    case E_INVALIDARG:
      return "E_INVALIDARG";
    case E_NOTIMPL:
      return "E_NOTIMPL";
    case E_NOINTERFACE:
      return "E_NOINTERFACE";
    case DXGI_ERROR_DEVICE_REMOVED:
      return "DXGI_ERROR_DEVICE_REMOVED";
    case DXGI_ERROR_DEVICE_HUNG:
      return "DXGI_ERROR_DEVICE_HUNG";
    case DXGI_ERROR_DEVICE_RESET:
      return "DXGI_ERROR_DEVICE_RESET";
    case DXGI_ERROR_DRIVER_INTERNAL_ERROR:
      return "DXGI_ERROR_DRIVER_INTERNAL_ERROR";
    case DXGI_ERROR_INVALID_CALL:
      return "DXGI_ERROR_INVALID_CALL";
    case DXGI_ERROR_UNSUPPORTED:
      return "DXGI_ERROR_UNSUPPORTED";
    case E_FAIL:
      return "E_FAIL";
    default:
      return "HRESULT";
  }
}

ErrorCode codeOf(HRESULT result) {
  switch (result) {
    case E_OUTOFMEMORY:
      return ErrorCode::OutOfMemory;
    case DXGI_ERROR_DEVICE_REMOVED:
    case DXGI_ERROR_DEVICE_HUNG:
    case DXGI_ERROR_DEVICE_RESET:
    case DXGI_ERROR_DRIVER_INTERNAL_ERROR:
      return ErrorCode::DeviceLost;
    case E_NOTIMPL:
    case E_NOINTERFACE:
    case DXGI_ERROR_UNSUPPORTED:
      return ErrorCode::Unsupported;
    default:
      return ErrorCode::Internal;
  }
}

}  // namespace

Error fault(std::string_view call, HRESULT result) {
  char code[16];
  std::snprintf(code, sizeof code, "%08X", static_cast<unsigned>(result));
  return {codeOf(result), cat(call, " failed with ", resultName(result), " (", code, ").")};
}

bool Outcome::isAccident() const {
  if (*this) return false;
  const ErrorCode code = codeOf(result_);
  return code == ErrorCode::OutOfMemory || code == ErrorCode::DeviceLost;
}

Status checkRemoved(ID3D12Device& device) {
  const Outcome reason("GetDeviceRemovedReason", device.GetDeviceRemovedReason());
  if (reason) return {};
  return Error{ErrorCode::DeviceLost, reason.error().text};
}

}  // namespace dimple::d3d12
