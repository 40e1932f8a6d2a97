// What the contexts of all back ends share: every method of IDimpleContext, with its checks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "api/device.h"

namespace dimple::api {

// Reports a refusal before there is a device, to the callback of the description.
HRESULT refuseContext(const DimpleContextDesc& desc, const Error& error) noexcept;
HRESULT refuseContext(const DimpleContextDesc& desc, HRESULT code, const char* text) noexcept;

using ReportKernel = void(STDMETHODCALLTYPE*)(void* context, const char* kernel, double nanoseconds);
using ReportTimedKernel = void(STDMETHODCALLTYPE*)(void* context, const char* kernel, double begin, double nanoseconds);
// Receives the times of a dispatch, in nanoseconds.
using ReceiveTimes = std::function<void(const char* kernel, double begin, double nanoseconds)>;

// The methods are final. Each passes the guard of the boundary, refuses if the device is removed, and only then calls
// the back end. If the back end says that the device is lost, it is removed.
class Context : public ComObject<IDimpleContext, IDimpleContext> {
 public:
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) final { return device_->QueryInterface(riid, ppv); }
  HRESULT STDMETHODCALLTYPE GetAdapterDesc(DimpleAdapterDesc* desc) final;
  HRESULT STDMETHODCALLTYPE CreateBuffer(UINT64 sizeInBytes, ID3D12Resource** buffer) final;
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) final;
  UINT STDMETHODCALLTYPE GetDescriptorIncrement() final { return descriptorIncrement(); }
  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) final;
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) final;
  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) final;
  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList* list) final;
  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList* list, UINT64* fence) final;
  HRESULT STDMETHODCALLTYPE Wait(UINT64 fence) final;
  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL enabled) final;
  HRESULT STDMETHODCALLTYPE ReadProfile(ReportKernel report, void* context) final;
  void STDMETHODCALLTYPE GetCompileCounts(UINT* wanted, UINT* compiled) final;
  HRESULT STDMETHODCALLTYPE ReadTimeline(ReportTimedKernel report, void* context) final;

 protected:
  Context(std::unique_ptr<NativeObjects> native, const DimpleContextDesc& desc, const Options& options);

  const ComPtr<Device> device_;

 private:
  // What a back end does. Pointers are not null, and sizes and counts not 0.
  virtual void describe(DimpleAdapterDesc& desc) = 0;
  virtual UINT descriptorIncrement() = 0;
  virtual Result<ComPtr<ID3D12Resource>> makeBuffer(UINT64 bytes) = 0;
  virtual Result<ComPtr<ID3D12DescriptorHeap>> makeDescriptorHeap(UINT count) = 0;
  virtual Result<ComPtr<ID3D12GraphicsCommandList>> makeCommandList() = 0;
  // The size of a buffer of this context.
  virtual Result<UINT64> sizeOf(ID3D12Resource& buffer) = 0;
  // Inside the buffer.
  virtual Status upload(ID3D12Resource& buffer, UINT64 offset, const void* data, UINT64 bytes) = 0;
  virtual Status download(ID3D12Resource& buffer, UINT64 offset, void* data, UINT64 bytes) = 0;
  virtual Status resetList(ID3D12GraphicsCommandList& list) = 0;
  // Returns the value to wait for, which is larger than all earlier ones.
  virtual Result<UINT64> execute(ID3D12GraphicsCommandList& list) = 0;
  virtual Status waitFor(UINT64 fence) = 0;
  virtual Status profile(bool enabled) = 0;
  // Returns false if profiling is off.
  virtual Result<bool> readProfile(const ReceiveTimes& receive) = 0;

  // Runs the body of a method that needs a device.
  template <class Body>
  HRESULT onDevice(const char* method, Body body);
  // `report` is the caller's function, which may be null; `receive` calls it.
  template <class Report>
  HRESULT read(const char* method, Report report, const ReceiveTimes& receive);
  HRESULT answer(const Status& status) { return status ? S_OK : device_->refuse(status.error()); }
  template <class Interface>
  HRESULT handOver(Result<ComPtr<Interface>> made, Interface** object);
  // Checks a transfer and executes it.
  template <class Copy>
  HRESULT transfer(const char* method, ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes,
                   Copy copy);

  std::atomic<UINT64> lastFence_ = 0;  // that Execute returned
};

}  // namespace dimple::api
