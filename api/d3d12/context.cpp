// IDimpleContext over Direct3D 12: a device of its own, with buffers, command lists and a queue.
#include "api/d3d12/context.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "api/context.h"
#include "api/d3d12/objects.h"
#include "api/options.h"
#include "backend_d3d12/opened_device.h"
#include "backend_d3d12/profiler.h"
#include "core/text.h"

namespace dimple::api {
namespace {

using d3d12::OpenedDevice;

void describeAdapter(const d3d12::AdapterInfo& info, DimpleAdapterDesc& desc) {
  desc = {};
  std::strncpy(desc.Name, info.name.c_str(), sizeof desc.Name - 1);
  std::copy(info.luid.begin(), info.luid.end(), desc.DeviceLuid);
  desc.DeviceLuidValid = info.luidValid;
  desc.VendorId = info.vendorId;
  desc.DeviceId = info.deviceId;
  desc.DeviceLocalBytes = info.deviceLocalBytes;
}

class D3D12Context final : public Context {
 public:
  D3D12Context(std::unique_ptr<OpenedDevice> opened, std::shared_ptr<d3d12::Device> backend,
               const DimpleContextDesc& desc, const Options& options)
      : Context(std::make_unique<D3D12Objects>(backend), desc, options),
        opened_(std::move(opened)),
        backend_(std::move(backend)) {}

  HRESULT STDMETHODCALLTYPE GetAdapterDesc(DimpleAdapterDesc* desc) override {
    if (!desc) return E_POINTER;
    describeAdapter(opened_->adapter(), *desc);
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE CreateBuffer(UINT64 sizeInBytes, ID3D12Resource** buffer) override {
    if (!buffer) return E_POINTER;
    *buffer = nullptr;
    if (sizeInBytes == 0) return device_->refuse(E_INVALIDARG, "sizeInBytes has value (0), expected at least 1.");
    auto made = d3d12::Buffer::create(opened_->device(), sizeInBytes, D3D12_HEAP_TYPE_DEFAULT);
    if (!made) return device_->refuse(made.error());
    *buffer = &(*made)->handle();
    (*buffer)->AddRef();
    return S_OK;
  }

  UINT STDMETHODCALLTYPE GetDescriptorIncrement() override {
    return opened_->device().GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  }

  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) override {
    if (!heap) return E_POINTER;
    *heap = nullptr;
    if (count == 0) return device_->refuse(E_INVALIDARG, "count has value (0), expected at least 1.");
    return handOver(opened_->createDescriptorHeap(count), heap);
  }

  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return transfer("Upload", buffer, offset, data, bytes,
                    [&] { return opened_->upload(*buffer, offset, data, bytes); });
  }
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return transfer("Download", buffer, offset, data, bytes,
                    [&] { return opened_->download(*buffer, offset, data, bytes); });
  }

  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) override {
    if (!list) return E_POINTER;
    *list = nullptr;
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    return handOver(opened_->createList(), list);
  }

  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList* list) override {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    if (!list) return device_->refuse(E_INVALIDARG, "list is null, expected a closed command list.");
    return answer(opened_->resetList(*list));
  }

  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList* list, UINT64* fence) override {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    if (!list) return device_->refuse(E_INVALIDARG, "list is null, expected a closed command list.");
    const auto value = opened_->submit(*list);
    if (!value) return device_->refuse(value.error());
    if (fence) *fence = *value;
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE Wait(UINT64 fence) override { return answer(opened_->wait(fence)); }

  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL enabled) override {
    return answer(backend_->setProfiling(enabled ? &opened_->queue() : nullptr));
  }
  HRESULT STDMETHODCALLTYPE ReadProfile(void(STDMETHODCALLTYPE* report)(void*, const char*, double),
                                        void* context) override {
    if (!report) return E_POINTER;
    if (!backend_->profiler()) return device_->refuse(E_INVALIDARG, "Profiling is off, expected SetProfiling first.");
    for (const auto& entry : backend_->profiler()->read()) report(context, entry.kernel.c_str(), entry.nanoseconds);
    return S_OK;
  }

 private:
  template <class Interface>
  HRESULT handOver(Result<d3d12::ComPtr<Interface>> made, Interface** object) {
    if (!made) return device_->refuse(made.error());
    *object = made->Detach();
    return S_OK;
  }

  template <class Copy>
  HRESULT transfer(const char* what, ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes, Copy copy) {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    if (!buffer)
      return device_->refuse(E_INVALIDARG, cat(what, ": buffer is null, expected a buffer of this context."));
    if (const HRESULT result = checkTransfer(what, dimpleGetDesc(buffer).Width, offset, data, bytes); result != S_OK)
      return FAILED(result) ? result : S_OK;
    return answer(copy());
  }

  const std::unique_ptr<OpenedDevice> opened_;
  const std::shared_ptr<d3d12::Device> backend_;
};

}  // namespace

Result<DimpleAdapterDesc> describeD3D12Adapter(UINT index) {
  if (const auto library = d3d12::loadLibrary(); !library) return library.error();
  const auto adapters = d3d12::listAdapters();
  if (index >= adapters.size())
    return Error{ErrorCode::NotFound,
                 cat("index has value (", index, "), but there are ", adapters.size(), " Direct3D 12 adapters.")};
  DimpleAdapterDesc desc;
  describeAdapter(adapters[index], desc);
  return desc;
}

HRESULT createD3D12Context(const DimpleContextDesc& desc, REFIID riid, void** ppv) {
  if (desc.AdapterUuid)
    return refuseContext(
        desc, {ErrorCode::Unsupported, "AdapterUuid is given, but Direct3D 12 knows adapters by name and index only."});
  const auto options = readOptions(desc.Options);
  if (!options) return refuseContext(desc, options.error());
  auto opened = OpenedDevice::open({desc.AdapterName ? desc.AdapterName : "", desc.AdapterIndex,
                                    (desc.Flags & DIMPLE_CONTEXT_FLAG_VALIDATION) != 0});
  if (!opened) return refuseContext(desc, opened.error());
  auto backend = d3d12::Device::create(&(*opened)->device(), options->nativeStorage);
  if (!backend) return refuseContext(desc, backend.error());
  return handOut(new D3D12Context(std::move(*opened), std::move(*backend), desc, *options), riid, ppv);
}

}  // namespace dimple::api
