// The functions of dimple.h that take Vulkan's objects.
#include "api/device.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/vulkan/objects.h"
#include "core/text.h"

using namespace dimple;
using namespace dimple::api;

namespace {

// Calls `make` with a live device over Vulkan and its back end; refuses every other device.
template <class Make>
HRESULT onVulkan(IDMLDevice* device, Make make) {
  Device* own = Live<Device>::find(device);
  if (!own) return notOurs();
  if (const auto* objects = dynamic_cast<VulkanObjects*>(&own->native())) return make(*own, objects->shared());
  return own->refuse(E_INVALIDARG,
                     "device is no Vulkan device, expected one of dimpleCreateVulkanDevice or of a context.");
}

}  // namespace

DIMPLE_API HRESULT STDMETHODCALLTYPE dimpleCreateVulkanDevice(const DimpleVulkanDeviceDesc* desc,
                                                              DML_CREATE_DEVICE_FLAGS flags,
                                                              DML_FEATURE_LEVEL minimumFeatureLevel, REFIID riid,
                                                              void** ppv) {
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
                             enabled, desc->PipelineCachePath ? desc->PipelineCachePath : "", *options);
  if (!backend) return refuseEarly(backend.error());
  return handOut(
      static_cast<IDMLDevice1*>(new Device(
          std::make_unique<VulkanObjects>(std::shared_ptr<vulkan::Device>(std::move(*backend))), flags, *options)),
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
