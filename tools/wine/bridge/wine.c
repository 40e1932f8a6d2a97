// The Wine half of dimpled3d12.dll: what D3D12CreateDevice needs of Windows.
#define COBJMACROS
#include <dxgi.h>
#include <stdlib.h>
#include <windows.h>

#include "vkd3d.h"

static int signalEvent(void* event) { return SetEvent(event) ? S_OK : E_FAIL; }

// libvkd3d's threads signal events, which only threads that Wine made can do.
struct Thread {
  void* (*main)(void*);
  void* data;
};

static DWORD CALLBACK runThread(void* argument) {
  const struct Thread thread = *(struct Thread*)argument;
  free(argument);
  thread.main(thread.data);
  return 0;
}

static void* createThread(void* (*main)(void*), void* data) {
  struct Thread* thread = malloc(sizeof *thread);
  if (!thread) return NULL;
  *thread = (struct Thread){main, data};
  HANDLE handle = CreateThread(NULL, 0, runThread, thread, 0, NULL);
  if (!handle) free(thread);
  return handle;
}

static int joinThread(void* thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  return S_OK;
}

// Programs look the device up among DXGI's adapters by its LUID.
static LUID firstAdapter(void) {
  static const GUID factoryId = {0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};
  LUID luid = {1, 0};
  HMODULE dxgi = LoadLibraryA("dxgi.dll");
  HRESULT(WINAPI * create)(const GUID*, void**) = dxgi ? (void*)GetProcAddress(dxgi, "CreateDXGIFactory1") : NULL;
  IDXGIFactory1* factory = NULL;
  if (!create || FAILED(create(&factoryId, (void**)&factory))) return luid;
  IDXGIAdapter1* adapter = NULL;
  if (SUCCEEDED(IDXGIFactory1_EnumAdapters1(factory, 0, &adapter))) {
    DXGI_ADAPTER_DESC1 desc;
    if (SUCCEEDED(IDXGIAdapter1_GetDesc1(adapter, &desc))) luid = desc.AdapterLuid;
    IDXGIAdapter1_Release(adapter);
  }
  IDXGIFactory1_Release(factory);
  return luid;
}

HRESULT WINAPI bridgeD3D12CreateDevice(void* adapter, int featureLevel, const GUID* iid, void** device) {
  static const struct BridgeHost host = {signalEvent, createThread, joinThread};
  static const GUID deviceId = {0x189819f1, 0x1db6, 0x4b57, {0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7}};
  const LUID luid = firstAdapter();
  if (device) return bridgeCreateDevice(&host, featureLevel, iid, luid.LowPart, luid.HighPart, device);
  // Without an address for it the device is only tried.
  IUnknown* tried = NULL;
  const HRESULT result =
      bridgeCreateDevice(&host, featureLevel, &deviceId, luid.LowPart, luid.HighPart, (void**)&tried);
  if (tried) IUnknown_Release(tried);
  return FAILED(result) ? result : S_FALSE;
}

HRESULT WINAPI bridgeD3D12GetDebugInterface(const GUID* iid, void** debug) {
  if (debug) *debug = NULL;
  return E_NOINTERFACE;
}

HRESULT WINAPI bridgeD3D12EnableExperimentalFeatures(UINT count, const GUID* iids, void* structs, UINT* sizes) {
  return E_NOINTERFACE;
}
