// The part of DXC's COM interface that the driver calls; compilers for Windows do not all bring dxcapi.h.
#pragma once

#include <windows.h>
// Needs windows.h before it.
#include <unknwn.h>

namespace dxc {

struct Buffer {
  const void* data;
  SIZE_T size;
  UINT encoding;
};

constexpr UINT kUtf8 = 65001;

struct Blob : IUnknown {
  virtual void* STDMETHODCALLTYPE GetBufferPointer() = 0;
  virtual SIZE_T STDMETHODCALLTYPE GetBufferSize() = 0;
};

struct Result : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetStatus(HRESULT* status) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetResult(Blob** result) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetErrorBuffer(Blob** errors) = 0;
};

struct Compiler : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE Compile(const Buffer* source, const wchar_t** arguments, UINT32 argumentCount,
                                            void* includeHandler, const GUID& interfaceId, void** result) = 0;
};

using CreateInstance = HRESULT(WINAPI*)(const GUID& classId, const GUID& interfaceId, void** object);

constexpr GUID kCompilerClass{0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
constexpr GUID kCompilerInterface{0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
constexpr GUID kResultInterface{0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};

}  // namespace dxc
