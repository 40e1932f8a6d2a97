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
  virtual HRESULT STDMETHODCALLTYPE Disassemble(const Buffer* object, const GUID& interfaceId, void** result) = 0;
};

struct Assembler : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE AssembleToContainer(Blob* text, Result** result) = 0;
};

struct Validator : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE Validate(Blob* object, UINT32 flags, Result** result) = 0;
};

constexpr UINT32 kSigns = 1;  // flag: the object itself, if it is valid

using CreateInstance = HRESULT(WINAPI*)(IMalloc* memory, const GUID& classId, const GUID& interfaceId, void** object);

constexpr GUID kCompilerClass{0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
constexpr GUID kCompilerInterface{0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
constexpr GUID kResultInterface{0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};
constexpr GUID kAssemblerClass{0xd728db68, 0xf903, 0x4f80, {0x94, 0xcd, 0xdc, 0xcf, 0x76, 0xec, 0x71, 0x51}};
constexpr GUID kAssemblerInterface{0x091f7a26, 0x1c1f, 0x4948, {0x90, 0x4b, 0xe6, 0xe3, 0xa8, 0xa7, 0x71, 0xd5}};
constexpr GUID kValidatorClass{0x8ca3e215, 0xf728, 0x4cf3, {0x8c, 0xdd, 0x88, 0xaf, 0x91, 0x75, 0x87, 0xa1}};
constexpr GUID kValidatorInterface{0xa6e82bd2, 0x1fd7, 0x4826, {0x98, 0x11, 0x28, 0x57, 0xe7, 0x97, 0xf4, 0x9a}};
constexpr GUID kUnknownInterface{0, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
constexpr GUID kMallocInterface{2, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
constexpr GUID kBlobInterface{0x8ba5fb08, 0x5195, 0x40e2, {0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02}};

}  // namespace dxc
