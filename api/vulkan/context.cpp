// IDimpleContext over Vulkan: a device of its own, with buffers, command lists and a queue.
#include "api/vulkan/context.h"

#include <cstring>
#include <memory>

#include "api/context.h"
#include "api/options.h"
#include "api/vulkan/objects.h"
#include "backend_vulkan/opened_device.h"
#include "backend_vulkan/profiler.h"
#include "core/support/staging.h"
#include "core/text.h"

namespace dimple::api {
namespace {

using vulkan::OpenedDevice;

void describeAdapter(const vulkan::AdapterInfo& info, DimpleAdapterDesc& desc) {
  desc = {};
  std::strncpy(desc.Name, info.name.c_str(), sizeof desc.Name - 1);
  std::copy(info.uuid.begin(), info.uuid.end(), desc.DeviceUuid);
  std::copy(info.luid.begin(), info.luid.end(), desc.DeviceLuid);
  desc.DeviceLuidValid = info.luidValid;
  desc.VendorId = info.properties.vendorID;
  desc.DeviceId = info.properties.deviceID;
  desc.VulkanVersion = info.properties.apiVersion;
  desc.DriverVersion = info.properties.driverVersion;
  desc.DeviceType = static_cast<UINT32>(info.properties.deviceType);
  desc.DeviceLocalBytes = info.deviceLocalBytes;
}

// A command list with a pool of its own, so that lists record on different threads.
class OwnedCommandList final : public VulkanCommandList {
 public:
  OwnedCommandList(std::shared_ptr<OpenedDevice> opened, std::shared_ptr<vulkan::Device> backend, VkCommandPool pool,
                   VkCommandBuffer commands)
      : VulkanCommandList(std::move(backend), commands), opened_(std::move(opened)), pool_(pool) {}

  bool recording() const override { return recording_; }

  HRESULT begin() {
    // Not ONE_TIME_SUBMIT: a closed list may execute many times.
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
    recording_ = backend().vk().vkBeginCommandBuffer(commands_, &info) == VK_SUCCESS;
    return recording_ ? S_OK : E_OUTOFMEMORY;
  }
  HRESULT STDMETHODCALLTYPE Close() override {
    if (!recording_) return E_FAIL;
    recording_ = false;
    return backend().vk().vkEndCommandBuffer(commands_) == VK_SUCCESS ? S_OK : E_OUTOFMEMORY;
  }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override {
    if (recording_) return E_FAIL;
    return begin();
  }

 private:
  ~OwnedCommandList() override { opened_->destroyCommandPool(pool_); }

  const std::shared_ptr<OpenedDevice> opened_;
  const VkCommandPool pool_;
  bool recording_ = false;
};

class VulkanContext final : public Context {
 public:
  VulkanContext(std::shared_ptr<OpenedDevice> opened, std::shared_ptr<vulkan::Device> backend,
                const DimpleContextDesc& desc, const Options& options)
      : Context(std::make_unique<VulkanObjects>(backend), desc, options),
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
    auto made = vulkan::Buffer::create(
        *backend_, sizeInBytes,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        false);
    if (!made) return device_->refuse(made.error());
    *buffer = new VulkanBuffer(backend_, std::move(*made));
    return S_OK;
  }

  UINT STDMETHODCALLTYPE GetDescriptorIncrement() override { return dimpleDescriptorIncrement; }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(UINT count, ID3D12DescriptorHeap** heap) override {
    if (!heap) return E_POINTER;
    *heap = nullptr;
    return createDescriptorHeap(*device_, backend_, count, heap);
  }

  HRESULT STDMETHODCALLTYPE Upload(ID3D12Resource* buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return transfer("Upload", buffer, offset, const_cast<void*>(data), bytes, true);
  }
  HRESULT STDMETHODCALLTYPE Download(ID3D12Resource* buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return transfer("Download", buffer, offset, data, bytes, false);
  }

  HRESULT STDMETHODCALLTYPE CreateCommandList(ID3D12GraphicsCommandList** list) override {
    if (!list) return E_POINTER;
    *list = nullptr;
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    const VkCommandPool pool = opened_->createCommandPool();
    const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                           VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    if (!pool || backend_->vk().vkAllocateCommandBuffers(backend_->handles().device, &info, &commands) != VK_SUCCESS) {
      opened_->destroyCommandPool(pool);
      return device_->refuse(E_OUTOFMEMORY, "There is no memory for a command list.");
    }
    auto made = ComPtr<OwnedCommandList>::adopt(new OwnedCommandList(opened_, backend_, pool, commands));
    if (const HRESULT result = made->begin(); FAILED(result)) return result;
    made->AddRef();
    *list = made.get();
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE ResetCommandList(ID3D12GraphicsCommandList* list) override {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    VulkanCommandList* found = Live<VulkanCommandList>::find(list);
    if (!found || &found->backend() != backend_.get())
      return device_->refuse(E_INVALIDARG, "list is no live command list of this context.");
    if (FAILED(found->Reset(nullptr, nullptr)))
      return device_->refuse(E_INVALIDARG, "list is recording, expected a closed one.");
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE Execute(ID3D12GraphicsCommandList* list, UINT64* fence) override {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    VulkanCommandList* found = Live<VulkanCommandList>::find(list);
    if (!found || &found->backend() != backend_.get())
      return device_->refuse(E_INVALIDARG, "list is no live command list of this context.");
    if (found->recording()) return device_->refuse(E_INVALIDARG, "list is recording, expected a closed one.");
    auto value = opened_->submit(found->handle());
    if (!value) return device_->refuse(value.error());
    if (fence) *fence = *value;
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE Wait(UINT64 fence) override { return answer(opened_->wait(fence)); }

  HRESULT STDMETHODCALLTYPE SetProfiling(BOOL enabled) override {
    return answer(backend_->setProfiling(enabled != FALSE));
  }

  HRESULT STDMETHODCALLTYPE ReadProfile(void(STDMETHODCALLTYPE* report)(void*, const char*, double),
                                        void* context) override {
    if (!report) return E_POINTER;
    if (!backend_->profiler()) return device_->refuse(E_INVALIDARG, "Profiling is off, expected SetProfiling first.");
    for (const auto& entry : backend_->profiler()->read()) report(context, entry.kernel.c_str(), entry.nanoseconds);
    return S_OK;
  }

 private:
  HRESULT transfer(const char* what, ID3D12Resource* resource, UINT64 offset, void* data, UINT64 bytes, bool upload) {
    if (device_->removed()) return DXGI_ERROR_DEVICE_REMOVED;
    VulkanBuffer* buffer = Live<VulkanBuffer>::find(resource);
    if (!buffer || &buffer->backend() != backend_.get())
      return device_->refuse(E_INVALIDARG, cat(what, ": buffer is no live buffer of this context."));
    if (const HRESULT result = checkTransfer(what, buffer->bytes(), offset, data, bytes); result != S_OK)
      return FAILED(result) ? result : S_OK;
    const auto create = [&](uint64_t size) {
      return vulkan::Buffer::create(*backend_, size,
                                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, true, !upload);
    };
    const auto copy = [&](const vulkan::Buffer& staging, uint64_t done, uint64_t part) -> Status {
      std::byte* const host = static_cast<std::byte*>(data) + done;
      if (upload) std::memcpy(staging.mapped(), host, part);
      auto status = opened_->runOnce(
          [&](VkCommandBuffer commands) { recordCopy(commands, *buffer, offset + done, staging, part, upload); });
      if (status && !upload) std::memcpy(host, staging.mapped(), part);
      return status;
    };
    return answer((upload ? uploads_ : downloads_).transfer(bytes, create, copy));
  }

  void recordCopy(VkCommandBuffer commands, const VulkanBuffer& buffer, UINT64 offset, const vulkan::Buffer& staging,
                  UINT64 bytes, bool upload) const {
    const auto& vk = backend_->vk();
    const VkBufferCopy region{upload ? 0 : offset, upload ? offset : 0, bytes};
    vk.vkCmdCopyBuffer(commands, upload ? staging.handle() : buffer.handle(),
                       upload ? buffer.handle() : staging.handle(), 1, &region);
    if (upload) return;
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                  VK_ACCESS_HOST_READ_BIT};
    vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                            nullptr, 0, nullptr);
  }

  const std::shared_ptr<OpenedDevice> opened_;
  const std::shared_ptr<vulkan::Device> backend_;
  Staging<vulkan::Buffer> uploads_, downloads_;
};

}  // namespace

HRESULT createVulkanContext(const DimpleContextDesc& given, REFIID riid, void** ppv) {
  auto chosen = readOptions(given.Options);
  if (!chosen) return refuseContext(given, chosen.error());
  vulkan::OpenOptions options;
  options.uuid = given.AdapterUuid;
  options.name = given.AdapterName ? given.AdapterName : "";
  options.index = given.AdapterIndex;
  options.validation = (given.Flags & DIMPLE_CONTEXT_FLAG_VALIDATION) != 0;
  options.robustBufferAccess = (given.Flags & DIMPLE_CONTEXT_FLAG_ROBUST_BUFFER_ACCESS) != 0;
  options.options = std::move(*chosen);
  options.pipelineCachePath = given.PipelineCachePath ? given.PipelineCachePath : "";
  if (given.MessageCallback)
    options.validationMessage = [callback = given.MessageCallback, context = given.MessageContext](const char* text) {
      callback(context, DIMPLE_MESSAGE_WARNING, S_OK, text);
    };
  auto opened = vulkan::OpenedDevice::open(options);
  if (!opened) return refuseContext(given, opened.error());
  const std::shared_ptr<OpenedDevice> shared = std::move(*opened);
  // The device's lifetime is the opened one's; every child holds the latter through this pointer.
  const std::shared_ptr<vulkan::Device> backend(shared, &shared->device());
  return handOut(new VulkanContext(shared, backend, given, options.options), riid, ppv);
}

Result<DimpleAdapterDesc> describeVulkanAdapter(UINT index) {
  const auto adapters = vulkan::listAdapters();
  if (!adapters) return adapters.error();
  if (index >= adapters->size())
    return Error{ErrorCode::NotFound,
                 cat("index has value (", index, "), but there are ", adapters->size(), " Vulkan devices.")};
  DimpleAdapterDesc desc;
  describeAdapter((*adapters)[index], desc);
  return desc;
}

}  // namespace dimple::api
