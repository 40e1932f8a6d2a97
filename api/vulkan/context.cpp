// IDimpleContext over Vulkan: a device of its own, with buffers, command lists and a queue.
#include "api/vulkan/context.h"

#include <cstring>
#include <memory>

#include "api/context.h"
#include "api/options.h"
#include "api/vulkan/objects.h"
#include "backend_vulkan/commands.h"
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

class OwnedCommandList final : public VulkanCommandList {
 public:
  OwnedCommandList(Device& device, std::shared_ptr<vulkan::Device> backend, std::unique_ptr<vulkan::CommandList> list)
      : VulkanCommandList(device, std::move(backend), list->handle()), list_(std::move(list)) {}

  bool recording() const override { return list_->recording(); }
  bool owned() const override { return true; }
  Status reset() {
    if (recording()) return invalid("list is recording, expected a closed one.");
    return list_->begin();
  }
  Result<uint64_t> submit() { return list_->submit(); }

  HRESULT STDMETHODCALLTYPE Close() override {
    return guarded(*this, "Close", [&] {
      if (device().removed()) return device().refuseRemoved();
      if (!recording()) return refuse(E_FAIL, "Close: the list is closed, expected one that records.");
      return answer(list_->end());
    });
  }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override {
    return guarded(*this, "Reset", [&] {
      if (device().removed()) return device().refuseRemoved();
      if (recording()) return refuse(E_FAIL, "Reset: the list is recording, expected a closed one.");
      return answer(list_->begin());
    });
  }

 private:
  ~OwnedCommandList() override = default;
  HRESULT answer(const Status& status) { return status ? S_OK : device().refuse(status.error()); }

  const std::unique_ptr<vulkan::CommandList> list_;
};

class VulkanContext final : public Context {
 public:
  VulkanContext(std::shared_ptr<OpenedDevice> opened, std::shared_ptr<vulkan::Device> backend,
                const DimpleContextDesc& desc, const Options& options)
      : Context(std::make_unique<VulkanObjects>(backend), desc, options),
        opened_(std::move(opened)),
        backend_(std::move(backend)) {}

 private:
  void describe(DimpleAdapterDesc& desc) override { describeAdapter(opened_->adapter(), desc); }
  UINT descriptorIncrement() override { return dimpleDescriptorIncrement; }

  Result<ComPtr<ID3D12Resource>> makeBuffer(UINT64 bytes) override {
    auto made = vulkan::Buffer::create(*backend_, bytes, kBufferUsage, false);
    if (!made) return made.error();
    return ComPtr<ID3D12Resource>::adopt(new VulkanBuffer(backend_, std::move(*made)));
  }
  Result<ComPtr<ID3D12DescriptorHeap>> makeDescriptorHeap(UINT count) override {
    return makeVulkanDescriptorHeap(backend_, count);
  }
  Result<ComPtr<ID3D12GraphicsCommandList>> makeCommandList() override {
    auto made = vulkan::CommandList::create(opened_);
    if (!made) return made.error();
    return ComPtr<ID3D12GraphicsCommandList>::adopt(new OwnedCommandList(*device_, backend_, std::move(*made)));
  }

  Result<UINT64> sizeOf(ID3D12Resource& buffer) override {
    const auto found = Live<VulkanBuffer>::find(&buffer);
    if (!found || &found->backend() != backend_.get()) return invalid("buffer is not a live buffer of this context.");
    return found->bytes();
  }
  Status upload(ID3D12Resource& buffer, UINT64 offset, const void* data, UINT64 bytes) override {
    return transfer(buffer, offset, const_cast<void*>(data), bytes, true);
  }
  Status download(ID3D12Resource& buffer, UINT64 offset, void* data, UINT64 bytes) override {
    return transfer(buffer, offset, data, bytes, false);
  }

  Status resetList(ID3D12GraphicsCommandList& list) override {
    const auto own = find(list);
    TRY(own);
    return (*own)->reset();
  }
  Result<UINT64> execute(ID3D12GraphicsCommandList& list) override {
    const auto own = find(list);
    TRY(own);
    return (*own)->submit();
  }
  Status waitFor(UINT64 fence) override { return opened_->wait(fence); }

  Status profile(bool enabled) override { return backend_->setProfiling(enabled); }
  Result<bool> readProfile(const ReceiveTimes& receive) override {
    if (!backend_->profiler()) return false;
    const auto entries = backend_->profiler()->read();
    if (!entries) return entries.error();
    for (const auto& entry : *entries) receive(entry.kernel.c_str(), entry.begin, entry.nanoseconds);
    return true;
  }

  Result<ComPtr<OwnedCommandList>> find(ID3D12GraphicsCommandList& list) const {
    auto found = Live<VulkanCommandList>::find(&list);
    if (!found || &found->backend() != backend_.get() || !found->owned())
      return invalid("list is not a live command list of this context.");
    return ComPtr<OwnedCommandList>::adopt(static_cast<OwnedCommandList*>(found.detach()));
  }

  Status transfer(ID3D12Resource& resource, UINT64 offset, void* data, UINT64 bytes, bool upload) {
    const auto buffer = Live<VulkanBuffer>::find(&resource);
    if (!buffer) return invalid("buffer is not a live buffer of this context.");
    const auto create = [&](uint64_t size) {
      return vulkan::Buffer::create(*backend_, size, kTransferUsage, true, !upload);
    };
    const auto copy = [&](const vulkan::Buffer& staging, uint64_t done, uint64_t part) -> Status {
      std::byte* const host = static_cast<std::byte*>(data) + done;
      if (upload) std::memcpy(staging.mapped(), host, part);
      auto status = opened_->runOnce(
          [&](VkCommandBuffer commands) { recordCopy(commands, *buffer, offset + done, staging, part, upload); });
      if (status && !upload) std::memcpy(host, staging.mapped(), part);
      return status;
    };
    return (upload ? uploads_ : downloads_).transfer(bytes, create, copy);
  }

  void recordCopy(VkCommandBuffer commands, const VulkanBuffer& buffer, UINT64 offset, const vulkan::Buffer& staging,
                  UINT64 bytes, bool upload) const {
    const auto& vk = backend_->vk();
    const VkBufferCopy region{upload ? 0 : offset, upload ? offset : 0, bytes};
    vk.vkCmdCopyBuffer(commands, upload ? staging.handle() : buffer.handle(),
                       upload ? buffer.handle() : staging.handle(), 1, &region);
    if (!upload) recordHostRead(*backend_, commands);
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
  options.warn = setLastMessage;
  if (given.MessageCallback) {
    const auto warn = [callback = given.MessageCallback, context = given.MessageContext](const char* text) {
      callCallback(callback, context, DIMPLE_MESSAGE_WARNING, S_OK, text);
    };
    options.validationMessage = warn;
    options.warn = [warn](const std::string& text) { warn(text.c_str()); };
  }
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
