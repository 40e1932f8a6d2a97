// Dimple: DirectML over Vulkan and Direct3D 12. This header documents everything that DirectML.h does not cover.
//
// DirectML.h itself is used unchanged. On Linux a program includes only this header: it includes DirectML.h with every
// operator of feature level 6.4, and declares the interface IDs that DirectX-Headers leave out.
//
// Every function returns an HRESULT and never throws. A refusal is E_INVALIDARG, E_POINTER, DXGI_ERROR_UNSUPPORTED,
// E_NOTIMPL, E_OUTOFMEMORY or DXGI_ERROR_DEVICE_REMOVED, and one sentence, which the message callback and
// dimpleGetLastMessage deliver even when memory has run out. A method that returns nothing removes the device if it is
// misused (DXGI_ERROR_DEVICE_REMOVED) or runs out of memory (E_OUTOFMEMORY). Once the device is removed, methods that
// need it return DXGI_ERROR_DEVICE_REMOVED, and the message says why it was removed. Objects are COM objects: whoever
// receives one owns a reference. Devices and contexts are free-threaded. Binding tables, command recorders and command
// lists must be used by one thread at a time.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <wsl/winadapter.h>
#endif

#include <directx/d3d12.h>

#if defined(__MINGW32__) && !defined(_Maybenull_)
#define _Maybenull_  // an annotation that DirectML.h uses and mingw-w64 does not know
#endif
#include <directx/DirectML.h>
#ifndef _MSC_VER
#include <dxguids/dxguids.h>  // the IDs of the ID3D12* interfaces
#endif

#include "dimple_version.h"

#if defined(_WIN32) && defined(DIMPLE_BUILDING_LIBRARY)
#define DIMPLE_API EXTERN_C __declspec(dllexport)
#elif defined(_WIN32)
#define DIMPLE_API EXTERN_C __declspec(dllimport)
#else
#define DIMPLE_API EXTERN_C __attribute__((visibility("default")))
#endif

// ---- interface IDs --------------------------------------------------------------------------------------------------

#ifdef __CRT_UUID_DECL
// clang-format off
__CRT_UUID_DECL(IDMLObject, 0xc8263aac, 0x9e0c, 0x4a2d, 0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c)
__CRT_UUID_DECL(IDMLDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f)
__CRT_UUID_DECL(IDMLDeviceChild, 0x27e83142, 0x8165, 0x49e3, 0x97, 0x4e, 0x2f, 0xd6, 0x6e, 0x4c, 0xb6, 0x9d)
__CRT_UUID_DECL(IDMLPageable, 0xb1ab0825, 0x4542, 0x4a4b, 0x86, 0x17, 0x6d, 0xde, 0x6e, 0x8f, 0x62, 0x01)
__CRT_UUID_DECL(IDMLOperator, 0x26caae7a, 0x3081, 0x4633, 0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d)
__CRT_UUID_DECL(IDMLDispatchable, 0xdcb821a8, 0x1039, 0x441e, 0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f, 0x3c, 0xec)
__CRT_UUID_DECL(IDMLCompiledOperator, 0x6b15e56a, 0xbf5c, 0x4902, 0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4)
__CRT_UUID_DECL(IDMLOperatorInitializer, 0x427c1113, 0x435c, 0x469c, 0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13)
__CRT_UUID_DECL(IDMLBindingTable, 0x29c687dc, 0xde74, 0x4e3b, 0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc)
__CRT_UUID_DECL(IDMLCommandRecorder, 0xe6857a76, 0x2e3e, 0x4fdd, 0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53)
__CRT_UUID_DECL(IDMLDebugDevice, 0x7d6f3ac9, 0x394a, 0x4ac3, 0x92, 0xa7, 0x39, 0x0c, 0xc5, 0x7a, 0x82, 0x17)
__CRT_UUID_DECL(IDMLDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2)
// clang-format on
#endif

// ---- methods that return structures ---------------------------------------------------------------------------------
// Other compilers for Windows do not return structures from methods as MSVC does. These functions call such methods
// correctly on every platform.

#if defined(_WIN32) && !defined(_MSC_VER) && !defined(DIMPLE_RETURNS_BY_POINTER)
#define DIMPLE_RETURNS_BY_POINTER  // d3d12.h declares these methods with the pointer that MSVC passes
#endif

inline D3D12_CPU_DESCRIPTOR_HANDLE dimpleGetCPUStart(ID3D12DescriptorHeap* heap) {
#ifdef DIMPLE_RETURNS_BY_POINTER
  D3D12_CPU_DESCRIPTOR_HANDLE handle = {};
  return *heap->GetCPUDescriptorHandleForHeapStart(&handle);
#else
  return heap->GetCPUDescriptorHandleForHeapStart();
#endif
}

inline D3D12_GPU_DESCRIPTOR_HANDLE dimpleGetGPUStart(ID3D12DescriptorHeap* heap) {
#ifdef DIMPLE_RETURNS_BY_POINTER
  D3D12_GPU_DESCRIPTOR_HANDLE handle = {};
  return *heap->GetGPUDescriptorHandleForHeapStart(&handle);
#else
  return heap->GetGPUDescriptorHandleForHeapStart();
#endif
}

inline D3D12_RESOURCE_DESC dimpleGetDesc(ID3D12Resource* resource) {
#ifdef DIMPLE_RETURNS_BY_POINTER
  D3D12_RESOURCE_DESC desc = {};
  return *resource->GetDesc(&desc);
#else
  return resource->GetDesc();
#endif
}

// DirectML.h declares GetBindingProperties without that pointer.
inline DML_BINDING_PROPERTIES dimpleGetBindingProperties(IDMLDispatchable* dispatchable) {
#ifdef DIMPLE_RETURNS_BY_POINTER
  DML_BINDING_PROPERTIES properties = {};
  using Method = DML_BINDING_PROPERTIES*(STDMETHODCALLTYPE*)(IDMLDispatchable*, DML_BINDING_PROPERTIES*);
  constexpr int kSlot = 8;  // after IUnknown (3), IDMLObject (4) and IDMLDeviceChild (1)
  (*reinterpret_cast<Method**>(dispatchable))[kSlot](dispatchable, &properties);
  return properties;
#else
  return dispatchable->GetBindingProperties();
#endif
}

// ---- version --------------------------------------------------------------------------------------------------------

// "0.1.0"; static storage.
DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetVersion();

// ---- messages -------------------------------------------------------------------------------------------------------

enum DimpleMessageSeverity {
  DIMPLE_MESSAGE_ERROR,    // a call was refused; `code` is what it returned
  DIMPLE_MESSAGE_REMOVED,  // the device was removed; `code` is GetDeviceRemovedReason
  // A pipeline cache cannot be used or written. With DML_CREATE_DEVICE_FLAG_DEBUG, these are also messages of Vulkan's
  // validation, and bindings that overlap so that results are undefined.
  DIMPLE_MESSAGE_WARNING,
};

// This function is called on the thread that made the refused call. `text` is one sentence in UTF-8, valid during the
// call. An exception that the function throws is discarded.
typedef void(STDMETHODCALLTYPE* DimpleMessageCallback)(void* context, DimpleMessageSeverity severity, HRESULT code,
                                                       const char* text);

// Sets the one callback of a device; null removes it. Returns E_INVALIDARG if `device` is not a live Dimple device.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSetMessageCallback(IDMLDevice* device, DimpleMessageCallback callback,
                                                              void* context);

// Returns the last refusal on the calling thread, at most 2,047 bytes, or "" if there was none. It is valid until the
// thread's next call into Dimple.
DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetLastMessage();

// ---- adapters -------------------------------------------------------------------------------------------------------

enum DimpleBackend {
  DIMPLE_BACKEND_VULKAN,
  DIMPLE_BACKEND_D3D12,  // only in builds with Direct3D 12, which are those for Windows
};

// Direct3D 12 does not report an adapter's UUID, versions and type; these are zero there.
struct DimpleAdapterDesc {
  char Name[256];
  UINT8 DeviceUuid[16];  // VkPhysicalDeviceIDProperties
  UINT8 DeviceLuid[8];   // zero if DeviceLuidValid is FALSE
  BOOL DeviceLuidValid;
  UINT32 VendorId;
  UINT32 DeviceId;
  UINT32 VulkanVersion;  // VK_MAKE_API_VERSION
  UINT32 DriverVersion;
  UINT32 DeviceType;  // VkPhysicalDeviceType
  UINT64 DeviceLocalBytes;
};

// Describes the Vulkan device with this index. Returns DXGI_ERROR_NOT_FOUND past the last one, and
// DXGI_ERROR_UNSUPPORTED if there is no Vulkan loader.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateAdapters(UINT index, DimpleAdapterDesc* desc);

// Does the same for the adapters of any back end. Returns DXGI_ERROR_UNSUPPORTED if the build or the machine lacks it.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateBackendAdapters(DimpleBackend backend, UINT index,
                                                                    DimpleAdapterDesc* desc);

// ---- a device over the caller's Vulkan ------------------------------------------------------------------------------

typedef struct VkInstance_T* VkInstance;
typedef struct VkPhysicalDevice_T* VkPhysicalDevice;
typedef struct VkDevice_T* VkDevice;
typedef struct VkCommandBuffer_T* VkCommandBuffer;
typedef struct VkBuffer_T* VkBuffer;
struct VkPhysicalDeviceFeatures2;

struct DimpleVulkanDeviceDesc {
  VkInstance Instance;  // of Vulkan 1.2 or later
  VkPhysicalDevice PhysicalDevice;
  VkDevice Device;
  UINT32 QueueFamilyIndex;  // has compute; recorded command buffers are submitted to a queue of it
  // vkGetInstanceProcAddr of the loader that made Instance; null: that of the system's loader.
  void* GetInstanceProcAddr;
  // The chain that vkCreateDevice was given. Features that it does not enable are not used. Null: no features.
  const struct VkPhysicalDeviceFeatures2* EnabledFeatures;
  // The path, in UTF-8, of a file that keeps compiled pipelines between runs; null: none. If it cannot be read or
  // written, the device works without it, and a message says why.
  const char* PipelineCachePath;
  // "NAME=VALUE,...", which takes precedence over the environment variable DIMPLE_OPTIONS; null: none. `dimple options`
  // lists the options. An unknown name or value is E_INVALIDARG.
  const char* Options;
};

// Creates a DirectML device. The Vulkan objects must outlive it. Returns DXGI_ERROR_UNSUPPORTED if
// `minimumFeatureLevel` is above 6.4 or the device is older than Vulkan 1.2.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateVulkanDevice(const DimpleVulkanDeviceDesc* desc,
                                                              DML_CREATE_DEVICE_FLAGS flags,
                                                              DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                              void** ppv);

// Wraps a buffer with STORAGE_BUFFER usage as the ID3D12Resource* that a DML_BUFFER_BINDING takes. The buffer must
// outlive all work that uses it. Of the wrapper's methods only GetDesc and GetGPUVirtualAddress (which returns 0) work;
// the others return E_NOTIMPL.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapBuffer(IDMLDevice* device, VkBuffer buffer, UINT64 sizeInBytes,
                                                      ID3D12Resource** resource);

// Makes a buffer of memory that another Vulkan device of the same driver exported, in this process or another one. This
// works only on Linux. `file` is an opaque file descriptor (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT), which the
// caller keeps. `sizeInBytes` is the size of the allocation, which must not be dedicated, and must be of the first
// memory type with DEVICE_LOCAL that storage buffers accept. If `device` belongs to a context, the methods of the
// context accept the buffer. A device over the caller's Vulkan must have VK_KHR_external_memory_fd enabled. The caller
// orders the accesses of the devices to the memory. If the device cannot import memory, the function returns
// DXGI_ERROR_UNSUPPORTED, whatever the other arguments are.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleImportBuffer(IDMLDevice* device, INT32 file, UINT64 sizeInBytes,
                                                        ID3D12Resource** buffer);

// Imports a timeline semaphore that another Vulkan device of the same driver exported, by an opaque file descriptor
// (VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT), which the caller keeps. Of the semaphore's methods only
// GetCompletedValue works; Signal and SetEventOnCompletion return E_NOTIMPL. A device over the caller's Vulkan must
// have VK_KHR_external_semaphore_fd enabled. If the device cannot import semaphores, the function returns
// DXGI_ERROR_UNSUPPORTED, whatever the other arguments are.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleImportSemaphore(IDMLDevice* device, INT32 file, ID3D12Fence** semaphore);

// These functions take their place among a context's executions and transfers. After dimpleWaitSemaphore, later work
// begins when the semaphore has reached `value`. After dimpleSignalSemaphore, the semaphore gets `value` when all
// earlier work is done; `value` must be larger than all values before. Neither function blocks. An awaited value must
// be signalled at some time: releasing the semaphore or the context blocks until nothing uses the semaphore. `device`
// must be the device of a context, and must have imported the semaphore; for a device over the caller's queue, both
// functions return DXGI_ERROR_UNSUPPORTED.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWaitSemaphore(IDMLDevice* device, ID3D12Fence* semaphore, UINT64 value);
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSignalSemaphore(IDMLDevice* device, ID3D12Fence* semaphore, UINT64 value);

// Creates a buffer in host memory, which stays at `address` as long as the buffer lives. CopyBufferRegion copies
// between it and other buffers; bindings refuse it. A copy reads what the host wrote before the list was submitted, and
// the host sees what was copied to the buffer once the list is done.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateTransferBuffer(IDMLDevice* device, UINT64 sizeInBytes,
                                                                ID3D12Resource** buffer, void** address);

// Wraps a command buffer in the recording state as the ID3D12CommandList* that RecordDispatch takes. Of its methods,
// ResourceBarrier (UAV barriers, from compute shader writes to reads and writes) and CopyBufferRegion also record.
// Close and Reset return E_NOTIMPL, since the command buffer is the caller's.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapCommandBuffer(IDMLDevice* device, VkCommandBuffer commandBuffer,
                                                             ID3D12GraphicsCommandList** list);

// Creates a heap of `count` descriptors, whose handles a DML_BINDING_TABLE_DESC takes; each is
// dimpleDescriptorIncrement bytes from the one before. The heap must outlive all work that was recorded with binding
// tables in it.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateDescriptorHeap(IDMLDevice* device, UINT count,
                                                                ID3D12DescriptorHeap** heap);
static const UINT dimpleDescriptorIncrement = 32;

// Tells Dimple that work on the caller's queue failed with VkResult `result` (VK_ERROR_DEVICE_LOST). Dimple does not
// submit work to this queue, and so does not see the failure itself. The DirectML device is removed:
// GetDeviceRemovedReason returns DXGI_ERROR_DEVICE_HUNG.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleNotifyDeviceLost(IDMLDevice* device, INT32 result);

// ---- a ready-made context -------------------------------------------------------------------------------------------

enum DimpleContextFlags {
  DIMPLE_CONTEXT_FLAG_NONE = 0,
  // Enables Vulkan's core and synchronization validation, or Direct3D 12's debug layer. It is refused if the layer is
  // not installed.
  DIMPLE_CONTEXT_FLAG_VALIDATION = 0x1,
  DIMPLE_CONTEXT_FLAG_ROBUST_BUFFER_ACCESS = 0x2,  // robustBufferAccess, and robustBufferAccess2 if the device has it
};
DEFINE_ENUM_FLAG_OPERATORS(DimpleContextFlags)

struct DimpleContextDesc {
  DimpleBackend Backend;
  // The first of these that is given selects the adapter: its UUID, a part of its name (case-insensitive), or its
  // index.
  const UINT8* AdapterUuid;  // 16 bytes, or null; Vulkan only
  const char* AdapterName;   // or null
  UINT AdapterIndex;
  DimpleContextFlags Flags;
  DML_CREATE_DEVICE_FLAGS DeviceFlags;
  DimpleMessageCallback MessageCallback;  // or null
  void* MessageContext;
  const char* PipelineCachePath;  // as in DimpleVulkanDeviceDesc
  const char* Options;            // as in DimpleVulkanDeviceDesc
};

// A device with a queue, for programs that do not have their own. To work on both back ends, a program sets the
// descriptor heap on the list before RecordDispatch, and separates dispatches that depend on each other by UAV
// barriers.
struct IDimpleContext : public IUnknown {
  // IDMLDevice, IDMLDevice1
  STDMETHOD(GetDevice)(REFIID riid, void** ppv) = 0;
  STDMETHOD(GetAdapterDesc)(DimpleAdapterDesc* desc) = 0;
  // Creates a device-local buffer, whose contents are undefined.
  STDMETHOD(CreateBuffer)(UINT64 sizeInBytes, ID3D12Resource** buffer) = 0;
  // Creates a heap whose handles a DML_BINDING_TABLE_DESC takes.
  STDMETHOD(CreateDescriptorHeap)(UINT count, ID3D12DescriptorHeap** heap) = 0;
  // Returns the bytes from the handle of one descriptor to the next.
  STDMETHOD_(UINT, GetDescriptorIncrement)() = 0;
  // These methods copy between host memory and a buffer of this context, after all work that was submitted before, and
  // return when the copy is done.
  STDMETHOD(Upload)(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 sizeInBytes) = 0;
  STDMETHOD(Download)(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 sizeInBytes) = 0;
  // Creates a command list in the recording state. Close ends recording. A closed list can be executed any number of
  // times, one execution at a time.
  STDMETHOD(CreateCommandList)(ID3D12GraphicsCommandList** list) = 0;
  // Empties and reopens a closed list whose executions are done, or a list whose Close failed.
  STDMETHOD(ResetCommandList)(ID3D12GraphicsCommandList* list) = 0;
  // Submits a closed list. `fence`, if not null, receives the value that Wait takes. Lists execute in order, and each
  // list sees everything that earlier lists wrote.
  STDMETHOD(Execute)(ID3D12GraphicsCommandList* list, UINT64* fence) = 0;
  // Returns when the submission with this fence value, and all before it, are done. Returns E_INVALIDARG for a value
  // that Execute has not returned yet.
  STDMETHOD(Wait)(UINT64 fence) = 0;
  // Switches the timing of dispatches that are recorded from now on.
  STDMETHOD(SetProfiling)(BOOL enabled) = 0;
  // Calls `report` with the name and the nanoseconds of each kernel that executed since the last call, in order.
  STDMETHOD(ReadProfile)
  (void(STDMETHODCALLTYPE* report)(void* context, const char* kernel, double nanoseconds), void* context) = 0;
  // How many pipelines were to be compiled for all devices of the process so far, and how many of them are: what
  // CompileOperator waits for. From any thread. A null pointer is left out.
  STDMETHOD_(void, GetCompileCounts)(UINT* wanted, UINT* compiled) = 0;
  // Reports what ReadProfile reports, and when each kernel began: the nanoseconds from the beginning of the first
  // kernel that was reported since SetProfiling. A kernel is reported once, by one of the two methods.
  STDMETHOD(ReadTimeline)
  (void(STDMETHODCALLTYPE* report)(void* context, const char* kernel, double beginInNanoseconds, double nanoseconds),
   void* context) = 0;
};

// {5b0c1a53-9c6f-4e0e-8f5b-2a9d3c7e6414}
#ifdef __CRT_UUID_DECL
__CRT_UUID_DECL(IDimpleContext, 0x5b0c1a53, 0x9c6f, 0x4e0e, 0x8f, 0x5b, 0x2a, 0x9d, 0x3c, 0x7e, 0x64, 0x14)
#endif

// `desc` may be null, which means the first adapter. Returns DXGI_ERROR_NOT_FOUND if no adapter matches.
DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateContext(const DimpleContextDesc* desc, REFIID riid, void** ppv);
