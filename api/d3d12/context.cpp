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
  D3D12Context(std::shared_ptr<OpenedDevice> opened, std::shared_ptr<d3d12::Device> backend,
               const DimpleContextDesc& desc, const Options& options)
      : Context(std::make_unique<D3D12Objects>(backend), desc, options),
        opened_(std::move(opened)),
        backend_(std::move(backend)) {
    backend_->setSettle([queue = opened_] { return static_cast<bool>(queue->settle()); });
  }

 private:
  void describe(DimpleAdapterDesc& desc) override { describeAdapter(opened_->adapter(), desc); }
  UINT descriptorIncrement() override {
    return opened_->device().GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  }

  Result<ComPtr<ID3D12Resource>> makeBuffer(UINT64 bytes) override {
    auto made = d3d12::Buffer::create(opened_->device(), bytes, D3D12_HEAP_TYPE_DEFAULT);
    if (!made) return made.error();
    return ComPtr<ID3D12Resource>(&(*made)->handle());
  }
  Result<ComPtr<ID3D12DescriptorHeap>> makeDescriptorHeap(UINT count) override {
    return owned(opened_->createDescriptorHeap(count));
  }
  Result<ComPtr<ID3D12GraphicsCommandList>> makeCommandList() override { return owned(opened_->createList()); }

  Result<UINT64> sizeOf(ID3D12Resource& buffer) override { return dimpleGetDesc(&buffer).Width; }
  Status upload(ID3D12Resource& buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return opened_->upload(buffer, offset, data, bytes);
  }
  Status download(ID3D12Resource& buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return opened_->download(buffer, offset, data, bytes);
  }

  Status resetList(ID3D12GraphicsCommandList& list) override { return opened_->resetList(list); }
  Result<UINT64> execute(ID3D12GraphicsCommandList& list) override { return opened_->submit(list); }
  Status waitFor(UINT64 fence) override { return opened_->wait(fence); }

  Status profile(bool enabled) override { return backend_->setProfiling(enabled ? &opened_->queue() : nullptr); }
  Result<bool> readProfile(const ReceiveTimes& receive) override {
    if (!backend_->profiler()) return false;
    for (const auto& entry : backend_->profiler()->read())
      receive(entry.kernel.c_str(), entry.begin, entry.nanoseconds);
    return true;
  }

  template <class Interface>
  static Result<ComPtr<Interface>> owned(Result<d3d12::ComPtr<Interface>> made) {
    if (!made) return made.error();
    return ComPtr<Interface>::adopt(made->Detach());
  }

  const std::shared_ptr<OpenedDevice> opened_;
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
        desc, {ErrorCode::Unsupported, "AdapterUuid is given, but Direct3D 12 knows adapters only by name and index."});
  const auto options = readOptions(desc.Options);
  if (!options) return refuseContext(desc, options.error());
  auto opened = OpenedDevice::open({desc.AdapterName ? desc.AdapterName : "", desc.AdapterIndex,
                                    (desc.Flags & DIMPLE_CONTEXT_FLAG_VALIDATION) != 0});
  if (!opened) return refuseContext(desc, opened.error());
  auto backend = d3d12::Device::create(&(*opened)->device(), *options);
  if (!backend) return refuseContext(desc, backend.error());
  return handOut(new D3D12Context(std::move(*opened), std::move(*backend), desc, *options), riid, ppv);
}

}  // namespace dimple::api
