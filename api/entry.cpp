// The functions of dimple.h.
#include "api/context.h"
#include "api/d3d12_context.h"
#include "api/device.h"
#include "api/guard.h"
#include "api/vulkan_context.h"
#include "api/vulkan_objects.h"
#include "core/text.h"

using namespace dimple;
using namespace dimple::api;

#ifndef DIMPLE_WITH_D3D12
namespace {
Error withoutD3D12() { return {ErrorCode::Unsupported, "This build of Dimple has no Direct3D 12 back end."}; }
}  // namespace

HRESULT dimple::api::createD3D12Context(const DimpleContextDesc& desc, REFIID, void**) {
  return refuseContext(desc, withoutD3D12());
}
Result<DimpleAdapterDesc> dimple::api::describeD3D12Adapter(UINT) { return withoutD3D12(); }
#endif

namespace {

HRESULT notOurs() { return refuseEarly(E_INVALIDARG, "device is no live device of Dimple."); }

// Calls `make` with a live device over Vulkan and its back end; refuses every other device.
template <class Make>
HRESULT onVulkan(IDMLDevice* device, Make make) {
  Device* own = Live<Device>::find(device);
  if (!own) return notOurs();
  if (const auto* objects = dynamic_cast<VulkanObjects*>(&own->native())) return make(*own, objects->shared());
  return own->refuse(E_INVALIDARG,
                     "device is no Vulkan device, expected one of dimpleCreateVulkanDevice or of a context.");
}

Error unknownBackend(DimpleBackend backend) {
  return {ErrorCode::InvalidArgument, cat("Backend has value (", static_cast<int>(backend),
                                          "), expected DIMPLE_BACKEND_VULKAN (0) or DIMPLE_BACKEND_D3D12 (1).")};
}

Result<DimpleAdapterDesc> describeAdapter(DimpleBackend backend, UINT index) {
  switch (backend) {
    case DIMPLE_BACKEND_VULKAN:
      return describeVulkanAdapter(index);
    case DIMPLE_BACKEND_D3D12:
      return describeD3D12Adapter(index);
  }
  return unknownBackend(backend);
}

}  // namespace

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetVersion() { return DIMPLE_VERSION_STRING; }

DIMPLE_API const char* STDMETHODCALLTYPE dimpleGetLastMessage() { return lastMessage(); }

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleSetMessageCallback(IDMLDevice* device, DimpleMessageCallback callback,
                                                              void* context) {
  Device* own = Live<Device>::find(device);
  if (!own) return notOurs();
  own->setCallback(callback, context);
  return S_OK;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateVulkanDevice(const DimpleVulkanDeviceDesc* desc,
                                                              DML_CREATE_DEVICE_FLAGS flags,
                                                              DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                              void** ppv) {
  if (!ppv) return refuseEarly(E_POINTER, "ppv is null, expected where to put the device.");
  *ppv = nullptr;
  if (!desc || !desc->Instance || !desc->PhysicalDevice || !desc->Device)
    return refuseEarly(E_INVALIDARG, "desc has a null Instance, PhysicalDevice or Device.");
  if (auto error = checkCreation(flags, minimumFeatureLevel)) return refuseEarly(*error);
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
  auto backend = vulkan::Device::create({desc->Instance, desc->PhysicalDevice, desc->Device, desc->QueueFamilyIndex},
                                        *functions, enabled, desc->PipelineCachePath ? desc->PipelineCachePath : "");
  if (!backend) return refuseEarly(backend.error());
  return handOut(static_cast<IDMLDevice1*>(new Device(
                     std::make_unique<VulkanObjects>(std::shared_ptr<vulkan::Device>(std::move(*backend))), flags)),
                 riid, ppv);
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapBuffer(IDMLDevice* device, VkBuffer buffer, UINT64 sizeInBytes,
                                                      ID3D12Resource** resource) {
  if (!resource) return E_POINTER;
  *resource = nullptr;
  return onVulkan(device, [&](Device& own, const auto& backend) -> HRESULT {
    if (!buffer || sizeInBytes == 0)
      return own.refuse(E_INVALIDARG, cat("buffer is null or sizeInBytes (", sizeInBytes, ") is 0."));
    *resource = new VulkanBuffer(backend, buffer, sizeInBytes);
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleWrapCommandBuffer(IDMLDevice* device, VkCommandBuffer commandBuffer,
                                                             ID3D12GraphicsCommandList** list) {
  if (!list) return E_POINTER;
  *list = nullptr;
  return onVulkan(device, [&](Device& own, const auto& backend) -> HRESULT {
    if (!commandBuffer) return own.refuse(E_INVALIDARG, "commandBuffer is null, expected a VkCommandBuffer.");
    *list = new VulkanCommandList(backend, commandBuffer);
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateDescriptorHeap(IDMLDevice* device, UINT count,
                                                                ID3D12DescriptorHeap** heap) {
  if (!heap) return E_POINTER;
  *heap = nullptr;
  return onVulkan(device,
                  [&](Device& own, const auto& backend) { return createDescriptorHeap(own, backend, count, heap); });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleNotifyDeviceLost(IDMLDevice* device, INT32 result) {
  Device* own = Live<Device>::find(device);
  if (!own) return notOurs();
  own->removeDevice(DXGI_ERROR_DEVICE_HUNG, cat("The caller's queue failed with VkResult (", result, ")."));
  return S_OK;
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateBackendAdapters(DimpleBackend backend, UINT index,
                                                                    DimpleAdapterDesc* desc) {
  if (!desc) return E_POINTER;
  return guarded([&]() -> HRESULT {
    const auto found = describeAdapter(backend, index);
    if (!found) return refuseEarly(found.error());
    *desc = *found;
    return S_OK;
  });
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleEnumerateAdapters(UINT index, DimpleAdapterDesc* desc) {
  return dimpleEnumerateBackendAdapters(DIMPLE_BACKEND_VULKAN, index, desc);
}

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateContext(const DimpleContextDesc* desc, REFIID riid, void** ppv) {
  if (!ppv) return E_POINTER;
  *ppv = nullptr;
  const DimpleContextDesc given = desc ? *desc : DimpleContextDesc{};
  return guarded([&]() -> HRESULT {
    switch (given.Backend) {
      case DIMPLE_BACKEND_VULKAN:
        return createVulkanContext(given, riid, ppv);
      case DIMPLE_BACKEND_D3D12:
        return createD3D12Context(given, riid, ppv);
    }
    return refuseContext(given, unknownBackend(given.Backend));
  });
}
