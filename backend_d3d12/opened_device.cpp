#include "backend_d3d12/opened_device.h"

#include <directx/d3d12sdklayers.h>

#ifdef _WIN32
#include <dxgi1_4.h>
#endif

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "backend_d3d12/fault.h"
#include "core/support/com_object.h"
#include "core/text.h"

namespace dimple::d3d12 {

// Allocators of command lists. One serves a list until the list goes, and another when the work recorded with it is
// done.
class AllocatorPool {
 public:
  // Before each give(), which must not need memory.
  void expect() {
    std::lock_guard lock(mutex_);
    free_.reserve(free_.size() + expected_ + 1);
    ++expected_;
  }
  void give(ComPtr<ID3D12CommandAllocator> allocator) {
    std::lock_guard lock(mutex_);
    --expected_;
    if (abandoned_)
      static_cast<void>(allocator.Detach());
    else
      free_.push_back({std::move(allocator), submitted});
  }
  // Null if there is none whose work is `done`. One that cannot be reset is given up.
  Result<ComPtr<ID3D12CommandAllocator>> take(uint64_t done) {
    std::lock_guard lock(mutex_);
    for (auto entry = free_.begin(); entry != free_.end(); ++entry) {
      if (entry->second > done) continue;
      ComPtr<ID3D12CommandAllocator> allocator = std::move(entry->first);
      free_.erase(entry);
      const Outcome emptied("Reset", allocator->Reset());
      if (!emptied) return emptied.error(" of a command allocator");
      return allocator;
    }
    return ComPtr<ID3D12CommandAllocator>();
  }
  // The device may use them for good.
  void abandon() {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    for (auto& entry : free_) static_cast<void>(entry.first.Detach());
    free_.clear();
  }

  std::atomic<uint64_t> submitted = 0;  // the last fence value

 private:
  std::mutex mutex_;
  size_t expected_ = 0;
  bool abandoned_ = false;
  std::vector<std::pair<ComPtr<ID3D12CommandAllocator>, uint64_t>> free_;
};

namespace {

// The private data of a command list that holds its allocator's lease. {3d1f3c9e-8f5a-4b0e-9d0e-6f2f0f1b7a55}
constexpr GUID kAllocator = {0x3d1f3c9e, 0x8f5a, 0x4b0e, {0x9d, 0x0e, 0x6f, 0x2f, 0x0f, 0x1b, 0x7a, 0x55}};
constexpr D3D12_COMMAND_LIST_TYPE kListType = D3D12_COMMAND_LIST_TYPE_COMPUTE;

// Released with the command list; gives the allocator back then.
class AllocatorLease final : public ComObject<IUnknown> {
 public:
  AllocatorLease(std::shared_ptr<AllocatorPool> pool, ComPtr<ID3D12CommandAllocator> allocator)
      : pool_(std::move(pool)), allocator_(std::move(allocator)) {
    pool_->expect();
  }
  ID3D12CommandAllocator* allocator() const { return allocator_.Get(); }

  bool emptied = false;  // what the list recorded may be gone, and it could not be opened

 private:
  ~AllocatorLease() override { pool_->give(allocator_); }
  const std::shared_ptr<AllocatorPool> pool_;
  const ComPtr<ID3D12CommandAllocator> allocator_;
};

// Of a list of createList; null for another one.
Result<ComPtr<AllocatorLease>> leaseOf(ID3D12CommandList& list) {
  IUnknown* held = nullptr;
  UINT size = sizeof held;
  ComPtr<AllocatorLease> lease;
  const Outcome found("GetPrivateData", list.GetPrivateData(kAllocator, &size, &held));
  if (found.isAccident()) return found.error();
  if (found) lease.Attach(static_cast<AllocatorLease*>(held));
  return lease;
}

AdapterInfo defaultAdapter() {
  AdapterInfo adapter;
#ifdef _WIN32
  adapter.name = "default adapter";
#else
  adapter.name = libraryName();
#endif
  return adapter;
}

#ifdef _WIN32
AdapterInfo describe(const DXGI_ADAPTER_DESC1& info) {
  AdapterInfo adapter;
  char name[4 * sizeof info.Description] = {};
  WideCharToMultiByte(CP_UTF8, 0, info.Description, -1, name, sizeof name - 1, nullptr, nullptr);
  adapter.name = name;
  static_assert(sizeof info.AdapterLuid == sizeof adapter.luid);
  std::memcpy(adapter.luid.data(), &info.AdapterLuid, sizeof info.AdapterLuid);
  adapter.luidValid = true;
  adapter.vendorId = info.VendorId;
  adapter.deviceId = info.DeviceId;
  adapter.deviceLocalBytes = info.DedicatedVideoMemory;
  return adapter;
}

void* functionOf(const char* library, const char* name) {
  const HMODULE module = LoadLibraryA(library);
  return module ? reinterpret_cast<void*>(GetProcAddress(module, name)) : nullptr;
}
#endif

Status enableDebugLayer() {
#ifdef _WIN32
  const auto get = reinterpret_cast<PFN_D3D12_GET_DEBUG_INTERFACE>(functionOf("d3d12.dll", "D3D12GetDebugInterface"));
  ComPtr<ID3D12Debug> debug;
  if (get && Outcome("D3D12GetDebugInterface", get(IID_PPV_ARGS(&debug)))) {
    debug->EnableDebugLayer();
    return {};
  }
#endif
  return Error{ErrorCode::Unsupported, "Validation was asked for, but Direct3D 12's debug layer is not installed."};
}

Result<AdapterInfo> choose(const OpenOptions& options) {
  const std::vector<AdapterInfo> adapters = listAdapters();
  if (!options.name.empty()) {
    for (const AdapterInfo& adapter : adapters)
      if (containsFolded(adapter.name, options.name)) return adapter;
    return Error{ErrorCode::NotFound, cat("No Direct3D 12 adapter has \"", options.name, "\" in its name.")};
  }
  if (options.index >= adapters.size())
    return Error{ErrorCode::NotFound, cat("The index of the Direct3D 12 adapter has value (", options.index,
                                          "), but there are ", adapters.size(), ".")};
  return adapters[options.index];
}

}  // namespace

std::vector<AdapterInfo> listAdapters() {
  std::vector<AdapterInfo> adapters;
#ifdef _WIN32
  const auto create = reinterpret_cast<HRESULT(WINAPI*)(REFIID, void**)>(functionOf("dxgi.dll", "CreateDXGIFactory1"));
  ComPtr<IDXGIFactory1> factory;
  if (create && Outcome("CreateDXGIFactory1", create(IID_PPV_ARGS(&factory)))) {
    ComPtr<IDXGIAdapter1> handle;
    for (UINT i = 0; Outcome("EnumAdapters1", factory->EnumAdapters1(i, handle.ReleaseAndGetAddressOf())); ++i) {
      DXGI_ADAPTER_DESC1 info{};
      if (!Outcome("GetDesc1", handle->GetDesc1(&info))) continue;
      adapters.push_back(describe(info));
      adapters.back().handle = handle;
    }
  }
#endif
  if (adapters.empty()) adapters.push_back(defaultAdapter());
  return adapters;
}

Result<std::unique_ptr<OpenedDevice>> OpenedDevice::open(const OpenOptions& options) {
  const auto library = loadLibrary();
  if (!library) return library.error();
  auto adapter = choose(options);
  if (!adapter) return adapter.error();
  if (options.validation) TRY(enableDebugLayer());
  std::unique_ptr<OpenedDevice> opened(new OpenedDevice);
  opened->adapter_ = std::move(*adapter);
  TRY(Outcome("D3D12CreateDevice", library->createDevice(opened->adapter_.handle.Get(), D3D_FEATURE_LEVEL_11_0,
                                                         IID_PPV_ARGS(&opened->device_))));
  TRY(opened->createQueue());
  return opened;
}

Result<std::unique_ptr<OpenedDevice>> OpenedDevice::over(ID3D12Device& device) {
  std::unique_ptr<OpenedDevice> opened(new OpenedDevice);
  opened->device_ = &device;
  TRY(opened->createQueue());
  return opened;
}

Status OpenedDevice::createQueue() {
  pool_ = std::make_shared<AllocatorPool>();
  D3D12_COMMAND_QUEUE_DESC queue{};
  queue.Type = kListType;
  TRY(Outcome("CreateCommandQueue", device_->CreateCommandQueue(&queue, IID_PPV_ARGS(&queue_))));
  TRY(Outcome("CreateFence", device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence_))));
  return {};
}

OpenedDevice::~OpenedDevice() {
  if (settle()) return;
  // Better lost than used by the device after it is freed.
  pool_->abandon();
  static_cast<void>(uploads_.release());
  static_cast<void>(downloads_.release());
  static_cast<void>(fence_.Detach());
  static_cast<void>(queue_.Detach());
  static_cast<void>(device_.Detach());
}

Result<ComPtr<ID3D12CommandAllocator>> OpenedDevice::takeAllocator() {
  auto taken = pool_->take(fence_->GetCompletedValue());
  if (!taken || taken->Get()) return taken;
  ComPtr<ID3D12CommandAllocator> made;
  TRY(Outcome("CreateCommandAllocator", device_->CreateCommandAllocator(kListType, IID_PPV_ARGS(&made))));
  return made;
}

Result<ComPtr<ID3D12GraphicsCommandList>> OpenedDevice::createList() {
  const auto allocator = takeAllocator();
  if (!allocator) return allocator.error();
  ComPtr<AllocatorLease> lease;
  lease.Attach(new AllocatorLease(pool_, *allocator));
  ComPtr<ID3D12GraphicsCommandList> list;
  TRY(Outcome("CreateCommandList",
              device_->CreateCommandList(0, kListType, lease->allocator(), nullptr, IID_PPV_ARGS(&list))));
  TRY(Outcome("SetPrivateDataInterface", list->SetPrivateDataInterface(kAllocator, lease.Get())));
  return list;
}

Status OpenedDevice::resetList(ID3D12GraphicsCommandList& list) {
  const auto lease = leaseOf(list);
  if (!lease) return lease.error();
  AllocatorLease* const held = lease->Get();
  if (!held) return invalid("list is not a command list of this context.");
  held->emptied = true;
  const Outcome emptied("Reset", held->allocator()->Reset());
  if (!emptied) return emptied.error(" of a command allocator");
  const Outcome opened("Reset", list.Reset(held->allocator(), nullptr));
  if (!opened) return opened.error(" of a command list");
  held->emptied = false;
  return {};
}

Result<ComPtr<ID3D12DescriptorHeap>> OpenedDevice::createDescriptorHeap(uint32_t count) {
  const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count,
                                        D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
  ComPtr<ID3D12DescriptorHeap> heap;
  const Outcome created("CreateDescriptorHeap", device_->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)));
  if (!created) return created.error(cat(" of ", count, " descriptors"));
  return heap;
}

Result<uint64_t> OpenedDevice::submit(ID3D12CommandList& list) {
  const auto lease = leaseOf(list);
  if (!lease) return lease.error();
  if (lease->Get() && lease->Get()->emptied)
    return invalid("The command list could not be reset, expected one that was closed without an error.");
  const auto execute = [&]() -> Result<uint64_t> {
    std::lock_guard lock(mutex_);
    ID3D12CommandList* const lists[] = {&list};
    queue_->ExecuteCommandLists(1, lists);
    const uint64_t value = ++pool_->submitted;
    TRY(Outcome("Signal", queue_->Signal(fence_.Get(), value)));
    signalled_ = value;
    return value;
  };
  auto value = execute();
  // Without a value nobody can wait for the list, and the caller takes it for not executed.
  if (!value) static_cast<void>(settle());
  return value;
}

Status OpenedDevice::wait(uint64_t value) {
  // Without an event it returns when the fence is there.
  const Outcome waited("SetEventOnCompletion", fence_->SetEventOnCompletion(value, nullptr));
  if (!waited) {
    // The caller may give up, and release what executes.
    static_cast<void>(settle());
    return waited.error();
  }
  return checkRemoved(*device_.Get());
}

Outcome OpenedDevice::settle() {
  constexpr int kAttempts = 5;  // at what may lack memory for a moment
  Outcome settled = trySettle();
  for (int attempt = 1; attempt < kAttempts && !settled; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    settled = trySettle();
  }
  unsettled_ = !settled;
  return settled;
}

Outcome OpenedDevice::trySettle() {
  const Outcome nothing("GetCompletedValue", S_OK);
  if (!pool_ || pool_->submitted == 0) return nothing;
  std::unique_lock lock(mutex_);
  const uint64_t last = pool_->submitted;
  if (fence_->GetCompletedValue() >= last) return nothing;
  if (!Outcome("GetDeviceRemovedReason", device_->GetDeviceRemovedReason())) return nothing;
  if (signalled_ < last) {
    const Outcome signalled("Signal", queue_->Signal(fence_.Get(), last));
    if (!signalled) return signalled;
    signalled_ = last;
  }
  lock.unlock();
  return {"SetEventOnCompletion", fence_->SetEventOnCompletion(last, nullptr)};
}

Status OpenedDevice::copy(ID3D12Resource& buffer, uint64_t offset, const Buffer& staging, uint64_t bytes, bool upload) {
  auto list = createList();
  if (!list) return list.error();
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {&buffer, 0, D3D12_RESOURCE_STATE_COMMON,
                        upload ? D3D12_RESOURCE_STATE_COPY_DEST : D3D12_RESOURCE_STATE_COPY_SOURCE};
  (*list)->ResourceBarrier(1, &barrier);
  if (upload)
    (*list)->CopyBufferRegion(&buffer, offset, &staging.handle(), 0, bytes);
  else
    (*list)->CopyBufferRegion(&staging.handle(), 0, &buffer, offset, bytes);
  std::swap(barrier.Transition.StateBefore, barrier.Transition.StateAfter);
  (*list)->ResourceBarrier(1, &barrier);
  TRY(Outcome("Close", (*list)->Close()));
  const auto value = submit(*list->Get());
  if (!value) return value.error();
  return wait(*value);
}

Status OpenedDevice::checkStaging() {
  if (unsettled_) TRY(settle());
  return {};
}

Status OpenedDevice::upload(ID3D12Resource& buffer, uint64_t offset, const void* data, uint64_t bytes) {
  TRY(checkStaging());
  return uploads_->transfer(
      bytes, [&](uint64_t size) { return Buffer::create(*device_.Get(), size, D3D12_HEAP_TYPE_UPLOAD); },
      [&](const Buffer& staging, uint64_t done, uint64_t part) {
        std::memcpy(staging.mapped(), static_cast<const std::byte*>(data) + done, part);
        return copy(buffer, offset + done, staging, part, true);
      });
}

Status OpenedDevice::download(ID3D12Resource& buffer, uint64_t offset, void* data, uint64_t bytes) {
  TRY(checkStaging());
  return downloads_->transfer(
      bytes, [&](uint64_t size) { return Buffer::create(*device_.Get(), size, D3D12_HEAP_TYPE_READBACK); },
      [&](const Buffer& staging, uint64_t done, uint64_t part) -> Status {
        TRY(copy(buffer, offset + done, staging, part, false));
        std::memcpy(static_cast<std::byte*>(data) + done, staging.mapped(), part);
        return {};
      });
}

}  // namespace dimple::d3d12
