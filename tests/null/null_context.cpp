#include "tests/null/null_context.h"

#include <cstring>

#include "api/com_object.h"
#include "api/command_list_base.h"
#include "api/device.h"
#include "tests/null/null_device.h"

// Of the library's entry points, what those need that run on a context.
const char* STDMETHODCALLTYPE dimpleGetLastMessage() { return dimple::api::lastMessage(); }

namespace dimple::testing {
namespace {

template <class Base, class... Interfaces>
class NullObject
    : public api::WithPrivateData<ComObject<Base, Interfaces..., ID3D12DeviceChild, ID3D12Object>, const IUnknown*> {
 public:
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void** ppv) override {
    if (ppv) *ppv = nullptr;
    return E_NOTIMPL;
  }
};

class NullBuffer final : public NullObject<ID3D12Resource, ID3D12Resource, ID3D12Pageable> {
 public:
  explicit NullBuffer(UINT64 bytes) : bytes_(bytes) {}
  HRESULT copy(UINT64 offset, UINT64 bytes, void* to, const void* from) {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) return E_INVALIDARG;
    if (bytes && to) std::memcpy(to, bytes_.data() + offset, bytes);
    if (bytes && from) std::memcpy(bytes_.data() + offset, from, bytes);
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE*, void**) override { return E_NOTIMPL; }
  void STDMETHODCALLTYPE Unmap(UINT, const D3D12_RANGE*) override {}
  D3D12_RESOURCE_DESC STDMETHODCALLTYPE GetDesc() override { return {}; }
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() override { return 0; }
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS*) override { return E_NOTIMPL; }

 private:
  std::vector<std::byte> bytes_;
};

class NullHeap final : public NullObject<ID3D12DescriptorHeap, ID3D12DescriptorHeap, ID3D12Pageable> {
 public:
  D3D12_DESCRIPTOR_HEAP_DESC STDMETHODCALLTYPE GetDesc() override { return {}; }
  D3D12_CPU_DESCRIPTOR_HANDLE STDMETHODCALLTYPE GetCPUDescriptorHandleForHeapStart() override { return {1}; }
  D3D12_GPU_DESCRIPTOR_HANDLE STDMETHODCALLTYPE GetGPUDescriptorHandleForHeapStart() override { return {1}; }
};

class NullList final : public NullObject<api::CommandListBase, ID3D12GraphicsCommandList, ID3D12CommandList> {
 public:
  HRESULT STDMETHODCALLTYPE Close() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override { return S_OK; }
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64, UINT64) override {}
  void STDMETHODCALLTYPE ResourceBarrier(UINT, const D3D12_RESOURCE_BARRIER*) override {}
};

class NullContext final : public ComObject<IDimpleContext, IDimpleContext> {
 public:
  explicit NullContext(UINT64 maxBytes) : maxBytes_(maxBytes), device_(createNullDevice()) {}

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) override { return device_->QueryInterface(riid, ppv); }
  HRESULT STDMETHODCALLTYPE GetAdapterDesc(DimpleAdapterDesc* desc) override {
    *desc = {};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateBuffer(UINT64 bytes, ID3D12Resource** buffer) override {
    if (bytes > maxBytes_) return E_OUTOFMEMORY;
    *buffer = new NullBuffer(bytes);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT, ID3D12DescriptorHeap** heap) override {
    *heap = new NullHeap;
    return S_OK;
  }
  UINT STDMETHODCALLTYPE GetDescriptorIncrement() override { return 1; }
  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return static_cast<NullBuffer*>(buffer)->copy(offset, bytes, nullptr, data);
  }
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return static_cast<NullBuffer*>(buffer)->copy(offset, bytes, data, nullptr);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) override {
    *list = new NullList;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList*, UINT64* fence) override {
    *fence = 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Wait(UINT64) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE ReadProfile(void(STDMETHODCALLTYPE*)(void*, const char*, double), void*) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE GetCompileCounts(UINT* wanted, UINT* compiled) override { *wanted = *compiled = 0; }
  HRESULT STDMETHODCALLTYPE ReadTimeline(void(STDMETHODCALLTYPE*)(void*, const char*, double, double), void*) override {
    return E_NOTIMPL;
  }

 private:
  const UINT64 maxBytes_;
  const Microsoft::WRL::ComPtr<IDMLDevice> device_;
};

}  // namespace

Microsoft::WRL::ComPtr<IDimpleContext> createNullContext(UINT64 maxBytes) {
  Microsoft::WRL::ComPtr<IDimpleContext> context;
  context.Attach(new NullContext(maxBytes));
  return context;
}

}  // namespace dimple::testing
