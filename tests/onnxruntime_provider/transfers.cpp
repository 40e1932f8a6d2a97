#include "tests/onnxruntime_provider/transfers.h"

#include <dimple.h>
#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "clients/onnx/segment.h"

namespace dimple::testing {
namespace {

std::mutex mutex;
Transfers counted;
QueueCalls calls;
uint64_t bufferBytes = 0;

// A context that counts.
class Counter final : public IDimpleContext {
 public:
  explicit Counter(onnx::ComPtr<IDimpleContext> context) : context_(std::move(context)) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    return context_->QueryInterface(riid, object);
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) override { return context_->GetDevice(riid, device); }
  HRESULT STDMETHODCALLTYPE GetAdapterDesc(DimpleAdapterDesc* desc) override { return context_->GetAdapterDesc(desc); }
  HRESULT STDMETHODCALLTYPE CreateBuffer(UINT64 bytes, ID3D12Resource** buffer) override {
    addBuffer(bytes);
    return context_->CreateBuffer(bytes, buffer);
  }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) override {
    return context_->CreateDescriptorHeap(count, heap);
  }
  UINT STDMETHODCALLTYPE GetDescriptorIncrement() override { return context_->GetDescriptorIncrement(); }
  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    count(1, 0, bytes);
    return context_->Upload(buffer, offset, data, bytes);
  }
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) override {
    count(0, 1, bytes);
    return context_->Download(buffer, offset, data, bytes);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) override {
    return context_->CreateCommandList(list);
  }
  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList* list) override {
    return context_->ResetCommandList(list);
  }
  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList* list, UINT64* fence) override {
    UINT64 own = 0;
    const HRESULT result = context_->Execute(list, &own);
    if (fence) *fence = own;
    const std::lock_guard lock(mutex);
    ++calls.executions;
    last_ = own;
    return result;
  }
  HRESULT STDMETHODCALLTYPE Wait(UINT64 fence) override {
    {
      const std::lock_guard lock(mutex);
      ++calls.waits;
      calls.waitsForLast += fence >= last_;
    }
    return context_->Wait(fence);
  }
  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL enabled) override { return context_->SetProfiling(enabled); }
  HRESULT STDMETHODCALLTYPE ReadProfile(void(STDMETHODCALLTYPE* report)(void*, const char*, double),
                                        void* reportContext) override {
    return context_->ReadProfile(report, reportContext);
  }
  void STDMETHODCALLTYPE GetCompileCounts(UINT* wanted, UINT* compiled) override {
    context_->GetCompileCounts(wanted, compiled);
  }
  HRESULT STDMETHODCALLTYPE ReadTimeline(void(STDMETHODCALLTYPE* report)(void*, const char*, double, double),
                                         void* reportContext) override {
    return context_->ReadTimeline(report, reportContext);
  }

 private:
  virtual ~Counter() = default;

  static void addBuffer(uint64_t bytes) {
    const std::lock_guard lock(mutex);
    bufferBytes += bytes;
  }
  static void count(size_t uploads, size_t downloads, uint64_t bytes) {
    const std::lock_guard lock(mutex);
    counted.uploads += uploads;
    counted.downloads += downloads;
    counted.bytes += bytes;
  }

  const onnx::ComPtr<IDimpleContext> context_;
  std::atomic<ULONG> references_ = 1;
  UINT64 last_ = 0;  // that was executed, with the mutex
};

}  // namespace

Transfers takeTransfers() {
  const std::lock_guard lock(mutex);
  return std::exchange(counted, {});
}

QueueCalls takeQueueCalls() {
  const std::lock_guard lock(mutex);
  return std::exchange(calls, {});
}

uint64_t takeBufferBytes() {
  const std::lock_guard lock(mutex);
  return std::exchange(bufferBytes, 0);
}

}  // namespace dimple::testing

HRESULT STDMETHODCALLTYPE dimpleCreateContext(const DimpleContextDesc* desc, REFIID riid, void** object) {
  using namespace dimple;
  const auto create = reinterpret_cast<decltype(&dimpleCreateContext)>(dlsym(RTLD_NEXT, "dimpleCreateContext"));
  if (!create || !object || riid != __uuidof(IDimpleContext)) return create ? create(desc, riid, object) : E_FAIL;
  dimple::onnx::ComPtr<IDimpleContext> context;
  const HRESULT result = create(desc, IID_PPV_ARGS(&context));
  *object = SUCCEEDED(result) ? static_cast<IDimpleContext*>(new testing::Counter(std::move(context))) : nullptr;
  return result;
}
