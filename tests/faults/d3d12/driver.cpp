#include "tests/faults/driver.h"

#include <cstdlib>
#include <string_view>

#include "tests/driver.h"
#include "tests/faults/layer/faults.h"

namespace dimple::testing {
namespace {

constexpr std::string_view kReason = "ID3D12Device::GetDeviceRemovedReason";

}  // namespace

// Descriptor heaps of libvkd3d are cheap so, as in most tests.
bool openDriver() {
  setenv("VKD3D_CONFIG", "virtual_heaps", 0);
  chooseDriver();
  return true;
}

bool armDriver(const char* function, uint32_t call, const char* result) {
  return dimpleFaultsArm(function, call, result);
}
std::string driverReport() { return dimpleFaultsReport(); }

DimpleBackend driverBackend() { return DIMPLE_BACKEND_D3D12; }
std::string stayingObject() { return ""; }
// Compiling kernels takes libvkd3d longer than all else.
std::string nextScenario() { return "lists"; }
bool isLoss(const Fault& fault) { return fault.result == "DXGI_ERROR_DEVICE_REMOVED"; }

// Pipelines are compiled ahead, on other threads, and the last who asks for the reason of a removal is the judge.
bool mayRecover(const Fault& fault) {
  return fault.function == "ID3D12Device::CreateComputePipelineState" || fault.function == kReason;
}

HRESULT expectedOf(const Fault& fault) { return fault.result == "E_FAIL" ? E_FAIL : E_OUTOFMEMORY; }

// A sentence names methods without their interface. That a device is removed is also found out by asking it.
std::vector<std::string> namesOf(const Fault& fault) {
  if (fault.function == kReason) return {"GetDeviceRemovedReason ", "The underlying device was removed."};
  const size_t colon = fault.function.rfind(':');
  return {fault.function.substr(colon == std::string::npos ? 0 : colon + 1) + " "};
}

}  // namespace dimple::testing
