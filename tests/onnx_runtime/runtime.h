// An unmodified onnxruntime.dll and the DirectML.dll beside it, as programs here load them.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include "backend_d3d12/d3d12.h"

#include <dimple.h>

// What the header takes for granted of Visual C++.
#ifndef _MSC_VER
#define _stdcall __stdcall
#define _Frees_ptr_opt_
#endif
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include "core/text.h"

namespace dimple::testing {

using Microsoft::WRL::ComPtr;

// Of dml_provider_factory.h, which is in no package of headers: the first entries of the provider's own functions.
struct DmlApi {
  OrtStatus*(ORT_API_CALL* appendAdapter)(OrtSessionOptions*, int adapter);
  OrtStatus*(ORT_API_CALL* appendDevice)(OrtSessionOptions*, IDMLDevice*, ID3D12CommandQueue*);
  OrtStatus*(ORT_API_CALL* allocationOf)(ID3D12Resource*, void** allocation);
  OrtStatus*(ORT_API_CALL* freeAllocation)(void* allocation);
};

inline void check(HRESULT result, const char* call) {
  if (SUCCEEDED(result)) return;
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(result));
  throw std::runtime_error(cat(call, " fails with ", text, "."));
}

// By way of void*, since compilers warn of a cast between function types.
template <class Function>
Function functionOf(HMODULE library, const char* name) {
  const auto function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(library, name)));
  if (!function) throw std::runtime_error(cat("A library has no ", name, "."));
  return function;
}

inline HMODULE load(const char* name) {
  const HMODULE library = LoadLibraryA(name);
  if (!library) throw std::runtime_error(cat(name, " cannot be loaded (error ", GetLastError(), ")."));
  char path[MAX_PATH] = {};
  GetModuleFileNameA(library, path, MAX_PATH);
  std::printf("%s\n", path);
  return library;
}

// The library DirectML, behind ONNX Runtime's functions.
inline HMODULE loadRuntime() {
  const HMODULE runtime = load("onnxruntime.dll"), directml = load("DirectML.dll");
  using Base = const OrtApiBase*(ORT_API_CALL*)();
  const OrtApiBase& base = *functionOf<Base>(runtime, "OrtGetApiBase")();
  const OrtApi* api = base.GetApi(ORT_API_VERSION);
  if (!api) throw std::runtime_error(cat("onnxruntime.dll knows no version ", ORT_API_VERSION, " of its functions."));
  Ort::InitApi(api);
  std::printf("ONNX Runtime %s\n", base.GetVersionString());
  return directml;
}

inline const DmlApi* dmlApi() {
  const void* functions = nullptr;
  Ort::ThrowOnError(Ort::GetApi().GetExecutionProviderApi("DML", ORT_API_VERSION, &functions));
  return static_cast<const DmlApi*>(functions);
}

struct Device {
  ComPtr<ID3D12Device> d3d12;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<IDMLDevice> dml;

  explicit Device(HMODULE directml) {
    check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
    const D3D12_COMMAND_QUEUE_DESC desc = {D3D12_COMMAND_LIST_TYPE_DIRECT, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
    check(d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
    using Create = HRESULT(WINAPI*)(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID, void**);
    check(functionOf<Create>(directml, "DMLCreateDevice1")(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE,
                                                           DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&dml)),
          "DMLCreateDevice1");
  }
};

// Of a session on the DirectML provider, which makes graphs of nodes or executes them one by one.
inline Ort::SessionOptions optionsOf(const Device& device, bool graphs) {
  Ort::SessionOptions options;
  options.DisableMemPattern();
  options.SetExecutionMode(ORT_SEQUENTIAL);
  if (!graphs) options.AddConfigEntry("ep.dml.disable_graph_fusion", "1");
  Ort::ThrowOnError(dmlApi()->appendDevice(options, device.dml.Get(), device.queue.Get()));
  return options;
}

}  // namespace dimple::testing
