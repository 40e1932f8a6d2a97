// The functions of dimple.h that take Vulkan's objects.
#include <cstdio>

#include "api/device.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/vulkan/objects.h"
#include "backend_vulkan/opened_device.h"
#include "core/text.h"

using namespace dimple;
using namespace dimple::api;

namespace {

// Calls `make` with a live device over Vulkan and its back end; refuses every other device, and one that is removed.
template <class Make>
HRESULT onVulkan(const char* function, IDMLDevice* device, Make make) {
  return guarded(NoObject(), function, [&]() -> HRESULT {
    const auto own = Live<Device>::find(device);
    if (!own) return notOurs();
    return guarded(*own, function, [&]() -> HRESULT {
      if (own->removed()) return own->refuseRemoved();
      if (const auto* objects = dynamic_cast<VulkanObjects*>(&own->native())) return make(*own, objects->shared());
      return own->refuse(E_INVALIDARG,
                         "device is not a Vulkan device, expected one of dimpleCreateVulkanDevice or of a context.");
    });
  });
}

// Calls `use` with the queue of a context's device, and a live semaphore that it imported.
template <class Use>
HRESULT onQueue(const char* function, IDMLDevice* device, ID3D12Fence* semaphore, Use use) {
  return onVulkan(function, device, [&](Device& own, const auto& backend) -> HRESULT {
    const auto found = Live<VulkanSemaphore>::find(semaphore);
    if (!found || &found->backend() != backend.get())
      return own.refuse(E_INVALIDARG, "semaphore is not a live semaphore that the device imported.");
    if (!backend->queue())
      return own.refuse(DXGI_ERROR_UNSUPPORTED,
                        "The queue is the caller's, expected vkQueueSubmit with the semaphore.");
    const Status status = use(*backend->queue(), found->semaphore());
    return status ? S_OK : own.refuse(status.error());
  });
}

HRESULT createVulkanDevice(const DimpleVulkanDeviceDesc* desc, DML_CREATE_DEVICE_FLAGS flags,
                           DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid, void** ppv) {
  if (!ppv) return refuseEarly(E_POINTER, "ppv is null, expected where to put the device.");
  *ppv = nullptr;
  if (!desc || !desc->Instance || !desc->PhysicalDevice || !desc->Device)
    return refuseEarly(E_INVALIDARG, "desc has a null Instance, PhysicalDevice or Device.");
  if (auto status = checkCreation(flags, minimumFeatureLevel); !status) return refuseEarly(status.error());
  const auto options = readOptions(desc->Options);
  if (!options) return refuseEarly(options.error());
  auto getInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(desc->GetInstanceProcAddr);
  if (!getInstanceProcAddr) {
    if (volkInitialize() != VK_SUCCESS)
      return refuseEarly(DXGI_ERROR_UNSUPPORTED, "There is no Vulkan loader on this machine (libvulkan.so.1).");
    getInstanceProcAddr = vkGetInstanceProcAddr;
  }
  auto functions = vulkan::loadInstanceFunctions(getInstanceProcAddr, desc->Instance);
  if (!functions) return refuseEarly(functions.error());
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  functions->getPhysicalDeviceProperties2(desc->PhysicalDevice, &properties);
  if (properties.properties.apiVersion < VK_API_VERSION_1_2)
    return refuseEarly(DXGI_ERROR_UNSUPPORTED, cat(properties.properties.deviceName, " is older than Vulkan 1.2."));
  const auto enabled = desc->EnabledFeatures ? vulkan::readFeatures(*desc->EnabledFeatures) : vulkan::EnabledFeatures{};
  auto backend =
      vulkan::Device::create({desc->Instance, desc->PhysicalDevice, desc->Device, desc->QueueFamilyIndex}, *functions,
                             enabled, desc->PipelineCachePath ? desc->PipelineCachePath : "", *options, setLastMessage);
  if (!backend) return refuseEarly(backend.error());
  return handOut(
      static_cast<IDMLDevice1*>(new Device(
          std::make_unique<VulkanObjects>(std::shared_ptr<vulkan::Device>(std::move(*backend))), flags, *options)),
      riid, ppv);
}

}  // namespace

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateVulkanDevice(const DimpleVulkanDeviceDesc* desc,
                                                              DML_CREATE_DEVICE_FLAGS flags,
                                                              DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                              void** ppv) {
  return guarded(NoObject(), "dimpleCreateVulkanDevice",
                 [&] { return createVulkanDevice(desc, flags, minimumFeatureLevel, riid, ppv); });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapBuffer(IDMLDevice* device, VkBuffer buffer, UINT64 sizeInBytes,
                                                      ID3D12Resource** resource) {
  if (!resource) return refuseEarly(E_POINTER, "resource is null, expected where to put the buffer.");
  *resource = nullptr;
  return onVulkan("dimpleWrapBuffer", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (!buffer || sizeInBytes == 0)
      return own.refuse(E_INVALIDARG, cat("buffer is null or sizeInBytes (", sizeInBytes, ") is 0."));
    *resource = new VulkanBuffer(backend, buffer, sizeInBytes);
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleImportBuffer(IDMLDevice* device, INT32 file, UINT64 sizeInBytes,
                                                        ID3D12Resource** buffer) {
  if (buffer) *buffer = nullptr;
  return onVulkan("dimpleImportBuffer", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (const auto status = vulkan::Buffer::checkImport(*backend, kBufferUsage); !status)
      return own.refuse(status.error());
    if (!buffer) return own.refuse(E_POINTER, "buffer is null, expected where to put the buffer.");
    if (sizeInBytes == 0) return own.refuse(E_INVALIDARG, "sizeInBytes has value (0), expected at least 1.");
    auto made = vulkan::Buffer::import(*backend, file, sizeInBytes, kBufferUsage);
    if (!made) return own.refuse(made.error());
    *buffer = new VulkanBuffer(backend, std::move(*made));
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleImportSemaphore(IDMLDevice* device, INT32 file, ID3D12Fence** semaphore) {
  if (semaphore) *semaphore = nullptr;
  return onVulkan("dimpleImportSemaphore", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (const auto status = vulkan::Semaphore::checkImport(*backend); !status) return own.refuse(status.error());
    if (!semaphore) return own.refuse(E_POINTER, "semaphore is null, expected where to put the semaphore.");
    auto made = vulkan::Semaphore::import(*backend, file);
    if (!made) return own.refuse(made.error());
    *semaphore = new VulkanSemaphore(backend, std::move(*made));
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWaitSemaphore(IDMLDevice* device, ID3D12Fence* semaphore, UINT64 value) {
  return onQueue("dimpleWaitSemaphore", device, semaphore,
                 [&](auto& queue, auto& imported) { return queue.waitFor(imported, value); });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSignalSemaphore(IDMLDevice* device, ID3D12Fence* semaphore, UINT64 value) {
  return onQueue("dimpleSignalSemaphore", device, semaphore,
                 [&](auto& queue, auto& imported) { return queue.signal(imported, value); });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateTransferBuffer(IDMLDevice* device, UINT64 sizeInBytes,
                                                                ID3D12Resource** buffer, void** address) {
  if (buffer) *buffer = nullptr;
  if (address) *address = nullptr;
  return onVulkan("dimpleCreateTransferBuffer", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (!buffer || !address)
      return own.refuse(E_POINTER, "buffer or address is null, expected where to put the buffer and its address.");
    if (sizeInBytes == 0) return own.refuse(E_INVALIDARG, "sizeInBytes has value (0), expected at least 1.");
    auto made = vulkan::Buffer::create(*backend, sizeInBytes, kTransferUsage, true, true);
    if (!made) return own.refuse(made.error());
    void* const mapped = (*made)->mapped();
    *buffer = new VulkanBuffer(backend, std::move(*made));
    *address = mapped;
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapCommandBuffer(IDMLDevice* device, VkCommandBuffer commandBuffer,
                                                             ID3D12GraphicsCommandList** list) {
  if (!list) return refuseEarly(E_POINTER, "list is null, expected where to put the command list.");
  *list = nullptr;
  return onVulkan("dimpleWrapCommandBuffer", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (!commandBuffer) return own.refuse(E_INVALIDARG, "commandBuffer is null, expected a VkCommandBuffer.");
    *list = new VulkanCommandList(own, backend, commandBuffer);
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateDescriptorHeap(IDMLDevice* device, UINT count,
                                                                ID3D12DescriptorHeap** heap) {
  if (!heap) return refuseEarly(E_POINTER, "heap is null, expected where to put the descriptor heap.");
  *heap = nullptr;
  return onVulkan("dimpleCreateDescriptorHeap", device, [&](Device& own, const auto& backend) -> HRESULT {
    if (count == 0) return own.refuse(E_INVALIDARG, "count has value (0), expected at least 1.");
    auto made = makeVulkanDescriptorHeap(backend, count);
    if (!made) return own.refuse(made.error());
    *heap = made->detach();
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleNotifyDeviceLost(IDMLDevice* device, INT32 result) {
  return guarded(NoObject(), "dimpleNotifyDeviceLost", [&]() -> HRESULT {
    const auto own = Live<Device>::find(device);
    if (!own) return notOurs();
    // The loss must be reported even if there is no memory for a message.
    char text[96];
    std::snprintf(text, sizeof text, "The caller's queue failed with VkResult (%d).", static_cast<int>(result));
    own->removeDevice(DXGI_ERROR_DEVICE_HUNG, text);
    return S_OK;
  });
}
