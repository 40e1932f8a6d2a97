// The D3D12 interfaces that DirectML.h takes, over Vulkan objects.
#pragma once

#include <memory>

#include "api/com_object.h"
#include "api/command_list_base.h"
#include "api/device.h"
#include "api/native_objects.h"
#include "backend_vulkan/descriptors.h"
#include "backend_vulkan/device.h"
#include "backend_vulkan/memory.h"
#include "backend_vulkan/semaphore.h"

namespace dimple::api {

// Interfaces return structures through a parameter on Windows compilers other than MSVC.
#ifdef DIMPLE_RETURNS_BY_POINTER
#define DIMPLE_RETURNS(Type, method, value)               \
  Type* STDMETHODCALLTYPE method(Type* result) override { \
    *result = value;                                      \
    return result;                                        \
  }
#else
#define DIMPLE_RETURNS(Type, method, value) \
  Type STDMETHODCALLTYPE method() override { return value; }
#endif

// Base of the wrappers: they keep the back end alive, not the DirectML device.
template <class Base, class... Interfaces>
class VulkanObject
    : public WithPrivateData<ComObject<Base, Interfaces..., ID3D12DeviceChild, ID3D12Object>, const IUnknown*> {
 public:
  explicit VulkanObject(std::shared_ptr<vulkan::Device> backend) : backend_(std::move(backend)) {}
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void** ppv) override {
    if (ppv) *ppv = nullptr;
    return this->refuse(E_NOTIMPL, "GetDevice: a wrapper of a Vulkan object has no Direct3D 12 device.");
  }
  vulkan::Device& backend() const { return *backend_; }

 protected:
  const std::shared_ptr<vulkan::Device> backend_;
};

inline constexpr VkBufferUsageFlags kTransferUsage =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
// The usage of buffers that contexts own.
inline constexpr VkBufferUsageFlags kBufferUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | kTransferUsage;

class VulkanBuffer final : public VulkanObject<ID3D12Resource, ID3D12Resource, ID3D12Pageable> {
 public:
  // Wraps the caller's buffer.
  VulkanBuffer(std::shared_ptr<vulkan::Device> backend, VkBuffer buffer, uint64_t bytes);
  // Owns a buffer.
  VulkanBuffer(std::shared_ptr<vulkan::Device> backend, std::unique_ptr<vulkan::Buffer> buffer);

  VkBuffer handle() const { return handle_; }
  uint64_t bytes() const { return bytes_; }
  // In host memory; it cannot be bound.
  bool isForTransfers() const { return owned_ && owned_->mapped(); }

  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE*, void**) override { return notThere(); }
  void STDMETHODCALLTYPE Unmap(UINT, const D3D12_RANGE*) override {}
  DIMPLE_RETURNS(D3D12_RESOURCE_DESC, GetDesc, desc())
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() override { return 0; }
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT, UINT) override {
    return notThere();
  }
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void*, UINT, UINT, UINT, const D3D12_BOX*) override {
    return notThere();
  }
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS*) override { return notThere(); }

 private:
  ~VulkanBuffer() override = default;
  D3D12_RESOURCE_DESC desc() const;
  HRESULT notThere() noexcept {
    return refuse(E_NOTIMPL,
                  "A wrapper of a Vulkan buffer has only GetDesc and GetGPUVirtualAddress, expected Upload or Download "
                  "of a context.");
  }

  const std::unique_ptr<vulkan::Buffer> owned_;
  const VkBuffer handle_;
  const uint64_t bytes_;
  const Live<VulkanBuffer> live_{this};
};

// A timeline semaphore of another device, which the queue of a context waits for and signals.
class VulkanSemaphore final : public VulkanObject<ID3D12Fence, ID3D12Fence, ID3D12Pageable> {
 public:
  VulkanSemaphore(std::shared_ptr<vulkan::Device> backend, std::unique_ptr<vulkan::Semaphore> semaphore)
      : VulkanObject(std::move(backend)), semaphore_(std::move(semaphore)) {}

  vulkan::Semaphore& semaphore() const { return *semaphore_; }

  // On a removed device, every value counts as reached, as in Direct3D 12.
  UINT64 STDMETHODCALLTYPE GetCompletedValue() override {
    const auto value = semaphore_->value();
    return value ? *value : UINT64_MAX;
  }
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64, HANDLE) override { return notThere(); }
  HRESULT STDMETHODCALLTYPE Signal(UINT64) override { return notThere(); }

 private:
  ~VulkanSemaphore() override = default;
  HRESULT notThere() noexcept {
    return refuse(E_NOTIMPL,
                  "A wrapper of a Vulkan semaphore has only GetCompletedValue, expected dimpleWaitSemaphore or "
                  "dimpleSignalSemaphore.");
  }

  const std::unique_ptr<vulkan::Semaphore> semaphore_;
  const Live<VulkanSemaphore> live_{this};
};

class VulkanDescriptorHeap final : public VulkanObject<ID3D12DescriptorHeap, ID3D12DescriptorHeap, ID3D12Pageable> {
 public:
  VulkanDescriptorHeap(std::shared_ptr<vulkan::Device> backend, uint32_t count);
  // The live heap that a handle lies in, with the index of its descriptor.
  static ComPtr<VulkanDescriptorHeap> find(uint64_t handle, uint32_t& index);

  vulkan::DescriptorHeap& heap() { return *heap_; }

  DIMPLE_RETURNS(D3D12_DESCRIPTOR_HEAP_DESC, GetDesc, desc())
  DIMPLE_RETURNS(D3D12_CPU_DESCRIPTOR_HANDLE, GetCPUDescriptorHandleForHeapStart, {static_cast<SIZE_T>(start())})
  DIMPLE_RETURNS(D3D12_GPU_DESCRIPTOR_HANDLE, GetGPUDescriptorHandleForHeapStart, {start()})

 private:
  ~VulkanDescriptorHeap() override = default;
  D3D12_DESCRIPTOR_HEAP_DESC desc() const;
  uint64_t start() const { return reinterpret_cast<uintptr_t>(handles_.get()); }

  const std::shared_ptr<vulkan::DescriptorHeap> heap_;
  // It is never written. It reserves addresses, so that the handles of live heaps differ.
  const std::unique_ptr<std::byte[]> handles_;
  const LiveRange<VulkanDescriptorHeap> live_{this, start(), uint64_t{heap_->count()} * dimpleDescriptorIncrement};
};

// Makes a heap of at least one descriptor. Refuses more descriptors than there is memory for.
Result<ComPtr<ID3D12DescriptorHeap>> makeVulkanDescriptorHeap(std::shared_ptr<vulkan::Device> backend, UINT count);

// Makes copied contents visible to the host, once the copy is done.
void recordHostRead(const vulkan::Device& backend, VkCommandBuffer commands);

// A command list over the caller's command buffer, or over one that a context owns. It keeps the DirectML device, to
// which it reports refusals, and which it removes.
class VulkanCommandList : public VulkanObject<CommandListBase, ID3D12GraphicsCommandList, ID3D12CommandList> {
 public:
  VulkanCommandList(Device& device, std::shared_ptr<vulkan::Device> backend, VkCommandBuffer commands)
      : VulkanObject(std::move(backend)), commands_(commands), device_(&device) {}

  VkCommandBuffer handle() const { return commands_; }
  Device& device() const { return *device_; }
  virtual bool recording() const { return true; }
  // Whether a context owns the command buffer.
  virtual bool owned() const { return false; }
  HRESULT refuse(HRESULT code, const char* text) noexcept override;

  HRESULT STDMETHODCALLTYPE Close() override;
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override;
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* target, UINT64 targetOffset, ID3D12Resource* source,
                                          UINT64 sourceOffset, UINT64 bytes) override;
  void STDMETHODCALLTYPE ResourceBarrier(UINT count, const D3D12_RESOURCE_BARRIER* barriers) override;

 protected:
  ~VulkanCommandList() override = default;
  VkCommandBuffer commands_;

 private:
  const ComPtr<Device> device_;
  const Live<VulkanCommandList> live_{this};
};

class VulkanObjects final : public NativeObjects {
 public:
  explicit VulkanObjects(std::shared_ptr<vulkan::Device> backend) : backend_(std::move(backend)) {}

  const std::shared_ptr<vulkan::Device>& shared() const { return backend_; }
  Backend& backend() override { return *backend_; }
  Result<NativeBuffer> buffer(ID3D12Resource* resource) override;
  Result<uint64_t> commandList(ID3D12CommandList* list) override;
  Result<DescriptorRange> descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                      UINT count) override;
  HRESULT removedReason() noexcept override { return backend_->lost() ? DXGI_ERROR_DEVICE_HUNG : S_OK; }
  HRESULT parentDevice(REFIID riid, void** ppv) override;

 private:
  const std::shared_ptr<vulkan::Device> backend_;
};

}  // namespace dimple::api
