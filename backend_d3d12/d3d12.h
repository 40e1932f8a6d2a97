// Direct3D 12 as this platform has it: d3d12.dll on Windows, libvkd3d in builds for tests on Linux.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <wsl/winadapter.h>
#endif

#include <directx/d3d12.h>
#ifndef _MSC_VER
#include <dxguids/dxguids.h>
#endif

#include <wrl/client.h>

#include "core/result.h"

namespace dimple::d3d12 {

using Microsoft::WRL::ComPtr;

// The functions of the library; Unsupported where there is none.
struct Library {
  HRESULT(WINAPI* createDevice)(IUnknown* adapter, D3D_FEATURE_LEVEL minimum, REFIID riid, void** device);
  PFN_D3D12_SERIALIZE_ROOT_SIGNATURE serializeRootSignature;
};
Result<Library> loadLibrary();

#ifndef _WIN32
// Another implementation than libvkd3d, with Microsoft's calling convention: what DIMPLE_D3D12_LIBRARY names. It stays
// loaded.
Result<Library> loadLibrary(const char* path);
// For people: libvkd3d, or the path of the other one.
const char* libraryName();
#endif

}  // namespace dimple::d3d12
