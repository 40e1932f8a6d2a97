#ifdef _WIN32

#include "tests/conformance/d3d12_gpu.h"

#include <cstring>

#include "backend_d3d12/opened_device.h"
#include "core/support/com_object.h"
#include "core/text.h"

namespace dimple::testing {
namespace {

// What the tests need of IDimpleContext, with the DirectML of another DLL.
class DllContext final : public ComObject<IDimpleContext, IDimpleContext> {
 public:
  // A sentence if there is no such DLL or device.
  std::string open(const std::string& path) {
    auto opened = d3d12::OpenedDevice::open({});
    if (!opened) return opened.error().text;
    opened_ = std::move(*opened);
    const HMODULE directml = LoadLibraryA(path.c_str());
    if (!directml) return cat("The library ", path, " cannot be loaded.");
    using Create = HRESULT(WINAPI*)(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, REFIID, void**);
    // By way of void*, since compilers warn of a cast between function types.
    const auto create = reinterpret_cast<Create>(reinterpret_cast<void*>(GetProcAddress(directml, "DMLCreateDevice1")));
    if (!create) return cat("The library ", path, " has no DMLCreateDevice1.");
    const HRESULT result =
        create(&opened_->device(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&dml_));
    if (FAILED(result))
      return cat("DMLCreateDevice1 of ", path, " makes no device (HRESULT ", static_cast<uint32_t>(result), ").");
    name_ = path;
    return {};
  }

  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** ppv) override { return dml_->QueryInterface(riid, ppv); }
  HRESULT STDMETHODCALLTYPE GetAdapterDesc(DimpleAdapterDesc* desc) override {
    *desc = {};
    std::strncpy(desc->Name, name_.c_str(), sizeof desc->Name - 1);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CreateBuffer(UINT64 bytes, ID3D12Resource** buffer) override {
    auto made = d3d12::Buffer::create(opened_->device(), (bytes + 3) / 4 * 4, D3D12_HEAP_TYPE_DEFAULT);
    if (!made) return E_OUTOFMEMORY;
    *buffer = &(*made)->handle();
    (*buffer)->AddRef();
    return S_OK;
  }
  UINT STDMETHODCALLTYPE GetDescriptorIncrement() override {
    return opened_->device().GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) override {
    return handOver(opened_->createDescriptorHeap(count), heap);
  }
  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return answer(opened_->upload(*buffer, offset, data, bytes));
  }
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return answer(opened_->download(*buffer, offset, data, bytes));
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) override {
    return handOver(opened_->createList(), list);
  }
  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList* list) override {
    return answer(opened_->resetList(*list));
  }
  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList* list, UINT64* fence) override {
    const auto value = opened_->submit(*list);
    if (value && fence) *fence = *value;
    return value ? S_OK : E_FAIL;
  }
  HRESULT STDMETHODCALLTYPE Wait(UINT64 fence) override { return answer(opened_->wait(fence)); }
  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE ReadProfile(void(STDMETHODCALLTYPE*)(void*, const char*, double), void*) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE GetCompileCounts(UINT* wanted, UINT* compiled) override { *wanted = *compiled = 0; }
  HRESULT STDMETHODCALLTYPE ReadTimeline(void(STDMETHODCALLTYPE*)(void*, const char*, double, double), void*) override {
    return E_NOTIMPL;
  }

 private:
  ~DllContext() override = default;

  HRESULT answer(const Status& status) const {
    if (status) return S_OK;
    const HRESULT reason = opened_->device().GetDeviceRemovedReason();
    return FAILED(reason) ? reason : E_FAIL;
  }
  template <class Interface>
  HRESULT handOver(Result<d3d12::ComPtr<Interface>> made, Interface** object) {
    if (!made) return E_FAIL;
    *object = made->Detach();
    return S_OK;
  }

  std::string name_;
  std::unique_ptr<d3d12::OpenedDevice> opened_;
  ComPtr<IDMLDevice> dml_;
};

}  // namespace

ComPtr<IDimpleContext> openDllContext(const std::string& path, std::string& error) {
  ComPtr<IDimpleContext> context;
  auto* made = new DllContext;
  context.Attach(made);
  error = made->open(path);
  return error.empty() ? context : nullptr;
}

}  // namespace dimple::testing

#endif
