#include "backend_d3d12/d3d12.h"

#ifndef _WIN32
#include <dlfcn.h>

#include <cstdlib>

#include "core/text.h"

extern "C" HRESULT WINAPI D3D12CreateDeviceVKD3D(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid,
                                                 void** device, int apiVersion);
#endif

namespace dimple::d3d12 {

#ifdef _WIN32

Result<Library> loadLibrary() {
  static const HMODULE module = LoadLibraryA("d3d12.dll");
  const auto load = [](const char* name) {
    return module ? reinterpret_cast<void*>(GetProcAddress(module, name)) : nullptr;
  };
  const Library library{reinterpret_cast<decltype(Library::createDevice)>(load("D3D12CreateDevice")),
                        reinterpret_cast<PFN_D3D12_SERIALIZE_ROOT_SIGNATURE>(load("D3D12SerializeRootSignature"))};
  if (!library.createDevice || !library.serializeRootSignature)
    return Error{ErrorCode::Unsupported, "There is no Direct3D 12 on this machine (d3d12.dll)."};
  return library;
}

#else

namespace {

// VKD3D_API_VERSION_1_15: the first whose defaults let shader model 6 through.
constexpr int kVkd3dApiVersion = 15;

HRESULT WINAPI createDevice(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid, void** device) {
  return D3D12CreateDeviceVKD3D(adapter, minimum, riid, device, kVkd3dApiVersion);
}

constexpr const char* kOther = "DIMPLE_D3D12_LIBRARY";

}  // namespace

Result<Library> loadLibrary(const char* path) {
  void* const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!module)
    return Error{ErrorCode::NotFound, cat(kOther, " has value (", path, "), which cannot be loaded: ", dlerror(), ".")};
  const Library library{
      reinterpret_cast<decltype(Library::createDevice)>(dlsym(module, "D3D12CreateDevice")),
      reinterpret_cast<PFN_D3D12_SERIALIZE_ROOT_SIGNATURE>(dlsym(module, "D3D12SerializeRootSignature"))};
  if (!library.createDevice || !library.serializeRootSignature)
    return Error{ErrorCode::Unsupported,
                 cat(kOther, " has value (", path,
                     "), expected a library with D3D12CreateDevice and D3D12SerializeRootSignature.")};
  return library;
}

Result<Library> loadLibrary() {
  static const char* const other = std::getenv(kOther);
  static const Result<Library> library =
      other ? loadLibrary(other) : Result<Library>(Library{createDevice, D3D12SerializeRootSignature});
  return library;
}

const char* libraryName() {
  const char* const other = std::getenv(kOther);
  return other ? other : "libvkd3d";
}

#endif

}  // namespace dimple::d3d12
